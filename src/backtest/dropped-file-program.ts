/** The program of the backtest sandbox: reads a CSV file that somebody dropped, and scores it. */
import { Readable } from 'node:stream';
import { inferFrequency } from '../calendar/infer-frequency.ts';
import { bindToModel, type DetectorModel } from '../detector-models.ts';
import { catalogOf, type Model } from '../model/catalog.ts';
import { Forecasters } from '../model/onnx-forecaster.ts';
import type { Sandboxed } from '../sandbox/program.ts';
import { decodeEnvelope } from '../sidecar/jobs/envelope.ts';
import type { BacktestAnswer } from '../sidecar/wire/schema/backtest-schema.ts';
import { type PastObservation, scoreHistory } from '../stream/engine/commit/score-history.ts';
import { csvReading } from '../terminal/csv/flags.ts';
import { readObservations } from '../terminal/csv/observations.ts';
import { pullObservations } from '../terminal/csv/pull.ts';
import { BacktestPages } from './backtest-pages.ts';
import { detectorOfText } from './kept-values-detector.ts';

export interface DroppedFileSetup {
  readonly models: readonly Model[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** The bytes of the file follow. */
export interface DroppedFileHeader {
  readonly name: string;
  /** Keys of a detector, as a detectors file has them. */
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Observations of one file. */
const OBSERVATIONS_MAX = 200_000;
const WINDOW_DEFAULT = 24;

export const sandboxed: Sandboxed = async (setup) => {
  const { models, aliases }: DroppedFileSetup = JSON.parse(Buffer.from(setup).toString());
  const forecasters = await Forecasters.start(models, { threads: 1 });
  const catalog = catalogOf(models, aliases);
  const byName = new Map<string, DetectorModel>();
  for (const name of [...catalog.names, ...catalog.aliases]) {
    const model = catalog.get(name);
    byName.set(name, { model, weights: null, digest: model.digest });
  }
  return async (input, { signal }) => {
    const { header, bytes } = decodeEnvelope<DroppedFileHeader>(input);
    const { history, notes, problems } = await readHistory(header.name, bytes);
    const detector =
      problems.length > 0 ? { kind: 'problems' as const, problems } : detectorFor(header, history, byName);
    if (detector.kind === 'problems') return encoded({ ...detector, problems: [...detector.problems] });
    const bound = bindToModel(detector.detector, { catalog, byName }, (...spec) => forecasters.forecasterFor(...spec));
    const pages = new BacktestPages();
    const options = {
      ...{ source: header.name, detectors: [bound], group: null },
      onScores: (scores: Parameters<typeof pages.add>[0]) => pages.add(scores),
      onEvent: (event: Parameters<typeof pages.addEvent>[0]) => pages.addEvent(event),
    };
    await scoreHistory(history, options, signal);
    return encoded({ kind: 'report', report: pages.data(`Backtest of ${header.name}`), notes });
  };
};

const encoded = (outcome: BacktestAnswer) => Buffer.from(JSON.stringify(outcome));

async function readHistory(name: string, bytes: Uint8Array) {
  const notes: string[] = [];
  const reading = csvReading(name, {
    ...{ seriesColumn: undefined, timeColumn: undefined, valueColumn: undefined, series: undefined },
    timeUnit: undefined,
  });
  const pull = pullObservations(readObservations(Readable.from([Buffer.from(bytes)]), reading), (note) =>
    notes.push(note),
  );
  const history: PastObservation[] = [];
  const problems: string[] = [];
  for await (const { series, timestampMs, value } of pull.observations) {
    if (history.length >= OBSERVATIONS_MAX) {
      problems.push(`at most ${OBSERVATIONS_MAX} observations are scored here: npm start -- backtest takes more`);
      break;
    }
    history.push({ series, timestampMs, value });
  }
  problems.push(...pull.problems);
  if (history.length === 0 && problems.length === 0) problems.push('there is nothing to score');
  return { history, notes: [...notes, ...pull.refusals.lines()], problems };
}

/** One detector for all series, of the settings given and the step of the file. */
function detectorFor(
  { settings }: DroppedFileHeader,
  history: readonly PastObservation[],
  byName: ReadonlyMap<string, DetectorModel>,
) {
  const bySeries = [...Map.groupBy(history, ({ series }) => series).values()];
  const freq =
    settings.freq ?? inferFrequency(bySeries.map((past) => past.map(({ timestampMs }) => timestampMs)))?.alias;
  if (freq === undefined) {
    return {
      kind: 'problems' as const,
      problems: ['no two observations of a series follow each other: give their step'],
    };
  }
  const detectionSize = settings.detection_size ?? settings.h ?? WINDOW_DEFAULT;
  const detector = {
    ...{ name: 'backtest', series: '*', h: detectionSize, detection_size: detectionSize },
    ...settings,
    freq,
  };
  // JSON is YAML.
  return detectorOfText(JSON.stringify({ detectors: [detector] }), history[0].series, byName);
}
