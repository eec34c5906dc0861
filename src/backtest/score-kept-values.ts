import { dirname } from 'node:path';
import { withChangedDetector } from '../config/changed-detector.ts';
import type { LoadedConfig } from '../config/config.ts';
import { findDetectorModels } from '../detector-models.ts';
import type { ModelCatalog } from '../model/catalog.ts';
import { bytesOfWeights } from '../model/tuned-weights.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { SandboxOutcome } from '../sandbox/sandbox-run.ts';
import { ServiceError } from '../service-error.ts';
import { encodeEnvelope } from '../sidecar/jobs/envelope.ts';
import type { KeptValues, ScoreAgain } from '../sidecar/operations/operations.ts';
import { detectorOfText, writtenDetectorOf } from './kept-values-detector.ts';
import type { WhatIfHeader, WhatIfOutcome, WhatIfSetup } from './kept-values-program.ts';

const TIMEOUT_MS = 120_000;
/** Questions that wait for the one that is computed. */
const WAITING_MAX = 4;
/** Keys of the detectors file that stand below `events`. */
const EVENT_KEYS: ReadonlySet<string> = new Set(['direction', 'min_deviation', 'min_deviation_share']);

export interface WhatIfOptions {
  readonly config: LoadedConfig;
  readonly catalog: ModelCatalog;
}

export interface KeptValuesScorer {
  readonly scoreAgain: ScoreAgain;
  close(): Promise<void>;
}

/** Scores kept values again in a sandboxed process, one question at a time. */
export function keptValuesScorer({ config, catalog }: WhatIfOptions): KeptValuesScorer {
  const models = catalog.names.map((name) => catalog.get(name));
  const aliases = Object.fromEntries(catalog.aliases.map((alias) => [alias, catalog.get(alias).name]));
  const setup: WhatIfSetup = { models, aliases };
  const sandbox = new Sandbox({
    entry: new URL('./kept-values-program.ts', import.meta.url),
    setup: Buffer.from(JSON.stringify(setup)),
    readable: [...new Set(models.map(({ graphPath }) => dirname(graphPath)))],
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    if (waiting >= WAITING_MAX) throw new ServiceError('overloaded', 'too many questions wait', { retryable: true });
    waiting++;
    const done = last.then(work).finally(() => waiting--);
    last = done.catch(() => undefined);
    return done;
  };
  return {
    async scoreAgain(past, changes, signal) {
      const { detectorsText: beforeText } = past;
      const found = writtenDetectorOf(beforeText, past.series);
      if (found.kind === 'problems') return found;
      const afterText = withChangedDetector(beforeText, found.index, inFile(changes));
      const after = writtenDetectorOf(afterText, past.series);
      if (after.kind === 'problems') return after;
      const stream = { ...config.stream, detectors: [found.written, after.written] };
      const { byName } = await findDetectorModels({ ...config, stream }, catalog);
      const settled = detectorOfText(afterText, past.series, byName);
      if (settled.kind === 'problems') return settled;
      const model = byName.get(found.written.model);
      const tuned = model?.weights ? { name: found.written.model, base: model.model.name } : null;
      const weights = model?.weights ? bytesOfWeights(model.weights.theta) : Buffer.alloc(0);
      const header = { series: past.series, count: past.values.length, beforeText, afterText, tuned };
      const input = encodeEnvelope<WhatIfHeader>({ header, bytes: Buffer.concat([numbersOf(past), weights]) });
      const outcome = await inTurn(() => sandbox.run(input, { timeoutMs: TIMEOUT_MS, signal }));
      const detector = found.written.name;
      return outcome.kind === 'output'
        ? { kind: 'scored', scored: { detector, text: afterText, ...parsed(outcome.output) } }
        : { kind: 'problems', problems: [problemOf(outcome)] };
    },
    close: () => sandbox.close(),
  };
}

/** `5%` is a share of the forecast, `5` a distance in its units. */
function inFile(changes: Readonly<Record<string, string | number>>): Readonly<Record<string, string | number>> {
  const entries = Object.entries(changes).map(([key, value]): [string, string | number] => {
    if (key !== 'min_deviation' || typeof value !== 'string') return [key, value];
    return value.endsWith('%') ? ['min_deviation_share', value] : [key, Number(value)];
  });
  return Object.fromEntries(entries.map(([key, value]) => [EVENT_KEYS.has(key) ? `events.${key}` : key, value]));
}

function numbersOf({ timestamps, values }: KeptValues): Buffer {
  return Buffer.concat([timestamps, values].map((column) => Buffer.from(column.slice().buffer)));
}

function parsed(output: Buffer): WhatIfOutcome {
  return JSON.parse(output.toString()) as WhatIfOutcome;
}

/** Throws where the program failed; what the caller can change is a problem. */
function problemOf(outcome: Exclude<SandboxOutcome, { kind: 'output' }>): string {
  switch (outcome.kind) {
    case 'timeout':
      return `the values could not be scored within ${TIMEOUT_MS / 1_000} s: shorten the range`;
    case 'out-of-memory':
    case 'output-too-large':
      return 'the values need too much memory: shorten the range';
    case 'stopped':
      return 'the question was taken back';
    case 'problem':
    case 'ended':
      throw new ServiceError('internal', `what-if failed: ${outcome.text}`);
  }
}
