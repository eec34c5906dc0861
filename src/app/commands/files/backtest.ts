import { writeFile } from 'node:fs/promises';
import type { ConfigResult, RecordMapping } from '../../../config/config.ts';
import type { Config, LoadedConfig } from '../../../config/load.ts';
import { commandFlag, type OptionValues } from '../../../config/options/option.ts';
import { processOptions, storeOptions, streamOptions, workerLimits } from '../../../config/options/options.ts';
import { text } from '../../../config/schema/kinds.ts';
import { reportPage } from '../../../console/report-page.ts';
import { type PastObservation, scoreHistory } from '../../../engine/commit/score-history.ts';
import { type DetectorModels, loadDetector, pretrainedModels } from '../../../engine/detector-models.ts';
import { Forecasters } from '../../../models/onnx-forecaster.ts';
import { ServiceError } from '../../../ops/service-error.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import { diagnosticText } from '../../../records/diagnostics/diagnostic.ts';
import { judgeInput } from '../../../records/diagnostics/input-watch.ts';
import { shadowedGlobs } from '../../../records/diagnostics/shadowed-globs.ts';
import { bareIdentity, seriesIdentity } from '../../../records/series/series-identity.ts';
import { meanStepMs } from '../../../time/frequency.ts';
import { inferFrequency } from '../../../time/infer-frequency.ts';
import { BacktestIncidents } from '../../../tools/backtest/backtest-incidents.ts';
import { BacktestLabels, isLabelled } from '../../../tools/backtest/backtest-labels.ts';
import { BacktestPages } from '../../../tools/backtest/backtest-pages.ts';
import { BacktestReport } from '../../../tools/backtest/backtest-report.ts';
import { csvFlags, csvReading } from '../../../tools/csv/flags.ts';
import { openInput } from '../../../tools/csv/input.ts';
import { type CsvPull, pullObservations, readObservations } from '../../../tools/csv/observations.ts';
import { SCORE_ROW_HEADER, scoreRow } from '../../../tools/csv/score-rows.ts';
import { type CommandIo, DONE, FAILED } from '../../../tools/terminal/command-io.ts';
import { openLines, openOutput, requireWritable } from '../../../tools/terminal/output-file.ts';
import { Progress } from '../../../tools/terminal/progress.ts';
import { resolveWithModels } from '../../processes/run-worker.ts';
import { command, exitCodeOf, printProblems } from '../command.ts';
import { type DetectorFlagValues, detectorFlags, detectorOfFlags } from './detector-flags.ts';

/** Observations of a history. It is held in memory as a whole. */
const HISTORY_MAX = 2_000_000;

const own = {
  ...csvFlags,
  ...detectorFlags,
  labelColumn: commandFlag('label-column', text, 'column that marks the rows of known incidents: 1, true or a name'),
  out: commandFlag('out', text, 'file for the scores as CSV (default: standard output)'),
  eventsOut: commandFlag('events-out', text, 'file for the events as JSON, one revision a line'),
  incidents: commandFlag(
    'incidents',
    text,
    'file for the incidents as JSON, one revision a line; the last of an id is final',
  ),
  report: commandFlag('report', text, 'file for an HTML page with the scores and events'),
};

/** Scores the history in a CSV file with the stream's own code, without Kafka. */
export const backtestCommand = command({
  operands: ['FILE'],
  own,
  settings: {
    detectors: streamOptions.detectors,
    modelsDir: processOptions.modelsDir,
    dataDir: processOptions.dataDir,
    storeUrl: storeOptions.storeUrl,
    inferenceThreads: workerLimits.inferenceThreads,
  },
  async run({ operands: [path = ''], flags, values, config }, io) {
    const flagged = Object.keys(detectorFlags).some((name) => values[name as keyof DetectorFlagValues] !== undefined);
    if (flagged && flags[streamOptions.detectors.flag!] !== undefined) {
      return printProblems(['--detectors defines all of a detector: leave out the other flags of a detector'], io);
    }
    await requireWritable(values.out, values.eventsOut, values.incidents, values.report);
    const { bytes, share } = await openInput(path, io.stop);
    const progress = new Progress(io);
    const pull = pullObservations(
      readObservations(bytes, { ...csvReading(path, values), label: values.labelColumn }),
      io.err,
    );
    try {
      const { detectors, input: mapping } = config.stream;
      const readings = flagged ? [values.as] : detectors.map(({ settings }) => settings.as);
      const readsCounters = readings.some((reading) => reading !== undefined);
      const history = await readHistory(pull, mapping, {
        readsCounters,
        onRow: () => progress.show('reading', share()),
      });
      progress.end();
      for (const line of [...pull.refusals.lines(), ...pull.problems]) io.err(line);
      if (history.length === 0) {
        io.err('There is nothing to score.');
        return exitCodeOf(pull) || FAILED;
      }
      const fromFile = !flagged && detectors.length > 0;
      const settled = fromFile ? { kind: 'config' as const, config } : withFlags(config, { values, history }, io);
      if (settled.kind === 'problems') return printProblems(settled.problems, io);
      const { models, result } = await resolveWithModels(settled.config);
      if (result.kind === 'problems') {
        return printProblems(
          fromFile ? result.problems : result.problems.map((problem) => problem.replace('detectors[0].', '--')),
          io,
        );
      }
      const { group = null } = values;
      await score(history, { ...values, config: result.config, models, source: path, group }, io);
      return exitCodeOf(pull);
    } catch (error) {
      if (!io.stop.aborted) throw error;
      io.err('Stopped before the end.');
      return DONE;
    } finally {
      bytes.destroy();
    }
  },
});

/** Without the labels that the input drops. The ids of a template would hide others: series keep theirs. */
async function readHistory(
  { observations, refusals }: CsvPull,
  { dropLabels, replicaLabel }: RecordMapping,
  { readsCounters, onRow }: { readonly readsCounters: boolean; onRow(): void },
): Promise<LabelledObservation[]> {
  const history: LabelledObservation[] = [];
  const identityOf = seriesIdentity({ dropLabels, replicaLabel });
  for await (const { line, series: written, timestampMs, value, extras: own, label } of observations) {
    const { id: series, replica } = identityOf?.(written) ?? bareIdentity(written);
    if (readsCounters && own?.problem !== undefined) {
      refusals.add(line, own.problem);
      continue;
    }
    const extras = replica === undefined ? own : { ...own, replica };
    if (history.length >= HISTORY_MAX) {
      throw new ServiceError('configuration', `A backtest holds at most ${HISTORY_MAX} observations: split the file`);
    }
    history.push({ series, timestampMs, value, extras, label });
    onRow();
  }
  return history;
}

function withFlags(
  loaded: LoadedConfig,
  { values, history }: { readonly values: DetectorFlagValues; readonly history: readonly PastObservation[] },
  io: CommandIo,
): ConfigResult<LoadedConfig> {
  if (values.aggregate !== undefined && values.freq === undefined) {
    const problem = '--freq must be the step whose points become one value, as --aggregate is given';
    return { kind: 'problems', problems: [problem] };
  }
  const bySeries = [...Map.groupBy(history, ({ series }) => series).values()];
  const freq = values.freq ?? inferFrequency(bySeries.map((past) => past.map(({ timestampMs }) => timestampMs)));
  if (freq === null) {
    const problem = 'no two observations of a series follow each other: give their step, --freq';
    return { kind: 'problems', problems: [problem] };
  }
  const made = detectorOfFlags(values, freq);
  if (made.kind === 'problems') return made;
  const detector = made.config;
  const { h, detectionSize, stepSize, level, calibration, calibrationSize, alarmRate } = detector.settings;
  const calibrated = `${calibration} calibration on ${calibrationSize}`;
  const points = [values.aggregate ?? [], values.as ?? []].flat().map((reading) => `, ${reading} of the points`);
  const lengths = `h ${h}, detection size ${detectionSize}, step size ${stepSize}, ${calibrated}`;
  const rate = alarmRate === null ? 'no alarms' : `a false alarm in ${Math.round(1 / alarmRate)} rows`;
  const origin = values.freq === undefined ? ' (the median step)' : '';
  const { model } = detector;
  io.err(
    `Detector: freq ${freq.alias}${origin}${points.join('')}, ${lengths}, level ${level}, ${rate}, model ${model}`,
  );
  return { kind: 'config', config: { ...loaded, stream: { ...loaded.stream, detectors: [detector] } } };
}

type OutputFiles = Pick<OptionValues<typeof own>, 'out' | 'eventsOut' | 'incidents' | 'report' | 'labelColumn'>;

type LabelledObservation = PastObservation & { readonly label?: string | undefined };

interface BacktestScoring extends OutputFiles {
  readonly config: Config;
  readonly models: DetectorModels;
  readonly source: string;
  readonly group: string | null;
}

const jsonLines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

async function score(history: readonly LabelledObservation[], scoring: BacktestScoring, io: CommandIo): Promise<void> {
  const { config, models, source, group, out, eventsOut, incidents: incidentsOut, report: page, labelColumn } = scoring;
  const { detectors: configs } = config.stream;
  const output = await openLines(out, io.out);
  const eventsOutput = eventsOut === undefined ? null : await openOutput(eventsOut);
  const incidentsOutput = incidentsOut === undefined ? null : await openOutput(incidentsOut);
  const forecasters = await Forecasters.start(pretrainedModels(configs, models), {
    threads: config.worker.inferenceThreads,
  });
  try {
    const detectors = configs.map((detector) =>
      loadDetector(detector, models, (...spec) => forecasters.forecasterFor(...spec)),
    );
    const report = new BacktestReport(configs);
    const incidents = incidentsOutput === null ? null : new BacktestIncidents(configs, config.dependsOn);
    const pages = page === undefined ? null : new BacktestPages(configs);
    await output.write([SCORE_ROW_HEADER]);
    const startedMs = performance.now();
    const progress = new Progress(io);
    let scored = 0;
    const onScores = async (scores: Parameters<typeof report.addScores>[0]) => {
      scored += scores.length;
      progress.show('scoring', scored / history.length, `${scored} of ${history.length} observations`);
      report.addScores(scores);
      pages?.add(scores);
      await output.write(scores.map(scoreRow));
    };
    const tally = await scoreHistory(
      history,
      {
        source,
        detectors,
        group,
        onScores,
        onEvent: (event) => {
          report.revisions.push(event);
          incidents?.addEvent(event);
          pages?.addEvent(event);
        },
      },
      io.stop,
    );
    progress.end();
    await eventsOutput?.appendFile(jsonLines(report.revisions));
    await incidentsOutput?.appendFile(jsonLines(incidents!.lines()));
    for (const line of report.eventLines()) io.err(line);
    if (labelColumn !== undefined) for (const line of labelLines(history, configs, report.events())) io.err(line);
    const title = `Backtest of ${source === '-' ? 'standard input' : source}`;
    if (page !== undefined && pages !== null) await writeFile(page, reportPage(pages.data(title)));
    for (const line of report.seriesLines(tally, (performance.now() - startedMs) / 1_000)) io.err(line);
    for (const diagnostic of [...shadowedGlobs(configs), ...judgeInput(tally.input)])
      io.err(diagnosticText(diagnostic, 'file'));
  } finally {
    await forecasters.close();
    await output.close();
    await eventsOutput?.close();
    await incidentsOutput?.close();
  }
}

/** An event is late, not false, within a detection window after an incident. */
function labelLines(
  history: readonly LabelledObservation[],
  detectors: Config['stream']['detectors'],
  events: readonly AnomalyEvent[],
): readonly string[] {
  const windowsMs = detectors.map(({ settings: { freq, detectionSize } }) => detectionSize * meanStepMs(freq));
  const labels = new BacktestLabels(Math.max(...windowsMs));
  for (const { series, timestampMs, label = '' } of history) labels.add(series, timestampMs, isLabelled(label));
  return labels.lines(events);
}
