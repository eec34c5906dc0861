import { dirname } from 'node:path';
import type { ModelCatalog } from '../model/catalog.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { ServiceError } from '../service-error.ts';
import { encodeEnvelope } from '../sidecar/jobs/envelope.ts';
import type { ScoreFile } from '../sidecar/operations/score-file.ts';
import type { DroppedFileHeader, DroppedFileSetup } from './dropped-file-program.ts';

const TIMEOUT_MS = 120_000;
/** Files that wait for the one that is scored. */
const WAITING_MAX = 4;

export interface FileScorer {
  readonly scoreFile: ScoreFile;
  close(): Promise<void>;
}

/** Scores CSV files in a sandboxed process, one at a time. Its answer is passed on as it is. */
export function fileScorer(catalog: ModelCatalog): FileScorer {
  const models = catalog.names.map((name) => catalog.get(name));
  const aliases = Object.fromEntries(catalog.aliases.map((alias) => [alias, catalog.get(alias).name]));
  const setup: DroppedFileSetup = { models, aliases };
  const sandbox = new Sandbox({
    entry: new URL('./dropped-file-program.ts', import.meta.url),
    setup: Buffer.from(JSON.stringify(setup)),
    readable: [...new Set(models.map(({ graphPath }) => dirname(graphPath)))],
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async scoreFile({ name, csv, settings }, signal) {
      if (waiting >= WAITING_MAX) throw new ServiceError('overloaded', 'too many files wait', { retryable: true });
      waiting++;
      const input = encodeEnvelope<DroppedFileHeader>({ header: { name, settings }, bytes: Buffer.from(csv) });
      const scoring = last.then(() => sandbox.run(input, { timeoutMs: TIMEOUT_MS, signal }));
      last = scoring.catch(() => undefined);
      const outcome = await scoring.finally(() => waiting--);
      if (outcome.kind === 'output') return { kind: 'answer', json: outcome.output };
      if (outcome.kind === 'problem' || outcome.kind === 'ended') {
        throw new ServiceError('internal', `the backtest failed: ${outcome.text}`);
      }
      const problem = 'the file takes too long or too much memory here: npm start -- backtest takes more';
      return { kind: 'problems', problems: [problem] };
    },
    close: () => sandbox.close(),
  };
}
