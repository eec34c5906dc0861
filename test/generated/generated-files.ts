import { startApp } from '../fixture/http/http-service.ts';
import { sendersTable } from '../senders/senders.ts';
import { read } from '../tidy/project.ts';
import { chartSchema } from './chart-schema.ts';
import { fileSchema } from './file-schemas.ts';
import { kernel } from './kernel.ts';
import { metricsPage } from './metrics-page.ts';
import { settingsPage } from './settings-page.ts';

const pretty = (json: unknown) => `${JSON.stringify(json, null, 2)}\n`;

async function openapi(): Promise<string> {
  const app = await startApp();
  const { body } = await app.inject({ url: '/openapi.json' });
  await app.close();
  return pretty(JSON.parse(body));
}

/** What a page has between two marks is replaced. */
function withTable(page: string, table: string): string {
  const text = read(page);
  const [begin, end] = ['<!-- Written by npm run generate -->\n', '<!-- As far as here -->'];
  return `${text.slice(0, text.indexOf(begin) + begin.length)}\n${table}\n\n${text.slice(text.indexOf(end))}`;
}

const SENDERS = 'deploy/book/senders.md';

/** All files, or parts of files, that `npm run generate` writes from the code, with what they contain. */
export const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  'schemas/detectors.schema.json': () => pretty(JSON.parse(fileSchema('detectors'))),
  'schemas/routes.schema.json': () => pretty(JSON.parse(fileSchema('routes'))),
  'schemas/openapi.json': openapi,
  'deploy/helm/tidewatch/values.schema.json': () => pretty(chartSchema),
  'deploy/book/metrics.md': metricsPage,
  'deploy/book/settings.md': settingsPage,
  [SENDERS]: () => withTable(SENDERS, sendersTable()),
  'src/codecs/json-numbers.ts': () => kernel('src/codecs/json-numbers'),
  'src/detection/grade/shape-kernel.ts': () => kernel('src/detection/grade/shape-kernel'),
  'src/kafka/batch/crc32c.ts': () => kernel('src/kafka/batch/crc32c'),
};
