import { createHash } from 'node:crypto';
import type { ReportData } from '../api/wire/schema/operations/backtest-schema.ts';
import { linkModules } from './link-modules.ts';
import { consoleStyle, ICON, VERSION_META } from './page-style.ts';
import { embedded, withReport } from './view/report-file.ts';

const ENTRY = new URL('./page/report-console.ts', import.meta.url);

/**
 * A page with everything inside it, for a browser without any service: the modules of the console as data addresses
 * in an import map, which a relative address would not survive. Its policy allows what is there and nothing else,
 * so a report of hostile data is as safe as the console. null: a page that a report is still to be put into.
 */
export function reportPage(data: ReportData | null): string {
  const modules = linkModules(ENTRY, (name) => `console/${name}`);
  const imports = Object.fromEntries(
    modules.map(({ name, code }) => [`console/${name}`, `data:text/javascript;base64,${base64(code)}`]),
  );
  const map = embedded(JSON.stringify({ imports }));
  const entry = `import 'console/${modules.at(-1)?.name}';`;
  const style = consoleStyle();
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(map)} ${hashOf(entry)} data:`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${VERSION_META}
<title>Tidewatch</title>
<link rel="icon" href="data:image/svg+xml;base64,${base64(ICON)}">
<style>${style}</style>
<script type="importmap">${map}</script>
</head>
<body>
<div id="console"></div>
<noscript>The report needs JavaScript.</noscript>
<script type="application/json" id="report">null</script>
<script type="module">${entry}</script>
</body>
</html>
`;
  return data === null ? page : withReport(page, data);
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
