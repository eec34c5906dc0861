import { createHash } from 'node:crypto';
import type { ServedPage } from '../api/http/exchange/app-services.ts';
import { linkModules } from './link-modules.ts';
import { consoleStyle, ICON, VERSION_META } from './page-style.ts';
import { reportPage } from './report-page.ts';
import { REPORT_FILE } from './view/report-file.ts';

type PageFile = ServedPage['files'][number];

const CONSOLE_PATH = '/console';

/**
 * Nothing inline and nothing from elsewhere. With trusted types a text can never become markup: a page that tried it
 * would fail, regardless of the names of series.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Entry of the page that talks to the service. */
const ENTRY = new URL('./page/live-console.ts', import.meta.url);

/** Reads, strips and links the page once, when the service starts. */
export function consoleFiles(): ServedPage {
  const style = consoleStyle();
  const plain = linkModules(ENTRY, (name) => name);
  const version = createHash('sha256');
  for (const text of [style, ...plain.map(({ code }) => code)]) version.update(text);
  const base = `${CONSOLE_PATH}/${version.digest('hex').slice(0, 12)}`;
  const modules = linkModules(ENTRY, (name) => `${base}/${name}.js`);
  const asset = (name: string, contentType: string, text: string): PageFile => {
    return { path: `${base}/${name}`, contentType, body: Buffer.from(text), immutable: true };
  };
  const scripts = modules.map(({ name, code }) => asset(`${name}.js`, 'text/javascript; charset=utf-8', code));
  const page = shellPage({ style: `${base}/console.css`, icon: `${base}/icon.svg`, scripts: scripts.map(pathOf) });
  return {
    files: [
      { path: CONSOLE_PATH, contentType: 'text/html; charset=utf-8', body: Buffer.from(page), immutable: false },
      asset('console.css', 'text/css; charset=utf-8', style),
      asset('icon.svg', 'image/svg+xml', ICON),
      reportFile(),
      ...scripts,
    ],
    policy: POLICY,
  };
}

/** Text: it is put together in the browser, and saved as a file. Made when it is requested first, which few do. */
function reportFile(): PageFile {
  let body: Buffer | null = null;
  return {
    path: REPORT_FILE,
    contentType: 'text/plain; charset=utf-8',
    immutable: false,
    get body() {
      body ??= Buffer.from(reportPage(null));
      return body;
    },
  };
}

const pathOf = ({ path }: PageFile) => path;

interface ShellParts {
  readonly style: string;
  readonly icon: string;
  readonly scripts: readonly string[];
}

/** Modules are preloaded side by side, since a browser would find them one import after the other. */
function shellPage({ style, icon, scripts }: ShellParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${VERSION_META}
<title>Tidewatch</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<link rel="stylesheet" href="${style}">
${scripts.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n')}
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. Everything that it shows is in the HTTP interface, too: see /docs.</noscript>
<script type="module" src="${scripts.at(-1)}"></script>
</body>
</html>
`;
}
