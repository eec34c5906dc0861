/**
 * How good the forecasts of `POST /v2/forecast` are, next to naive and statistical ones: a section of the model's card.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serveModels } from '../../../src/api/models/served-models.ts';
import { tuneInProcess } from '../../../src/api/models/tuned-models.ts';
import { type Model, type ModelCatalog, openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { whyNoPython } from '../../fixture/http/python.ts';
import type { Figures } from '../bench.ts';
import { lastValue, ownForecasts, seasonalNaive, servedForecasts } from './forecasts.ts';
import { HISTORY_MAX, type PeerModel, peerForecasts, STATSFORECAST } from './peers.ts';
import { type Entry, type Report, reportCompetition, reportFiles } from './report.ts';
import { hasCollections, type QualityTask, readM4, readNab } from './tasks.ts';

const DATA = fileURLToPath(new URL('../../../../shared/data/', import.meta.url));
const DEFAULT_MODEL = 'tsmodel-1';
const SECTION = { begin: '<!-- quality: begin -->\n', end: '<!-- quality: end -->' };

const USUAL_PEERS: readonly PeerModel[] = ['AutoETS', 'AutoTheta'];
/** 17,000 forecasts: the quickest of them. */
const NAB_PEERS: readonly PeerModel[] = ['AutoETS'];

/**
 * @param args `--model NAME`, `--models-dir FOLDER`, `--data FOLDER` (with m4/ and nab/), `--no-peers` leaves the
 *   statistical models out, `--write` writes the tables into the model's card
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags } = parseArgs({
    args: [...args],
    options: {
      model: { type: 'string', default: DEFAULT_MODEL },
      'models-dir': { type: 'string' },
      data: { type: 'string', default: DATA },
      peers: { type: 'boolean', default: true },
      write: { type: 'boolean', default: false },
    },
    allowNegative: true,
  });
  if (!hasCollections(flags.data)) {
    console.log(`No data to measure on: ${flags.data} has no m4/ and nab/; say where they are with --data.`);
    return {};
  }
  const catalog = await openCatalog({ modelsDir: flags['models-dir'] ?? null });
  const model = catalog.get(flags.model);
  const report = await measure(flags.data, catalog, model, flags.peers);
  const section = report.markdown.join('\n');
  console.log(`\n${section}\n`);
  if (flags.write) await writeSection(join(dirname(model.graphPath), 'card.md'), section);
  return report.figures;
}

async function measure(data: string, catalog: ModelCatalog, model: Model, wanted: boolean): Promise<Report> {
  const { name } = model;
  const all = catalog.names.map((each) => catalog.get(each));
  const forecasters = await Forecasters.start(all, { threads: availableParallelism(), rare: all });
  const noPython = wanted ? await whyNoPython() : 'is not wanted';
  if (noPython !== null) console.log(`Without statistical models: statsforecast ${noPython}.`);
  try {
    const models = serveModels(catalog, forecasters, tuneInProcess([]));
    const entriesOf = async (task: QualityTask, peers: readonly PeerModel[]): Promise<Entry[]> => {
      const ours = { name, key: name, forecasts: await servedForecasts(task, models, name) };
      const own = {
        name: `${name}, not calibrated`,
        key: 'not_calibrated',
        forecasts: await ownForecasts(task, models.find(name)!),
      };
      const others: Entry[] = [];
      for (const peer of noPython === null ? peers : []) {
        others.push({ name: peer, key: peer.toLowerCase(), forecasts: await peerForecasts(task, peer) });
      }
      return [ours, own, ...others];
    };
    const naiveOf = (task: QualityTask): Entry[] => [
      { name: 'last value', key: 'last_value', forecasts: lastValue(task) },
      { name: 'seasonal naive', key: 'seasonal_naive', forecasts: seasonalNaive(task) },
    ];
    const [hourly, weekly, nab] = [await readM4(data, 'm4_hourly'), await readM4(data, 'm4_weekly'), readNab(data)];
    const reports = [
      reportCompetition(hourly, [...(await entriesOf(hourly, USUAL_PEERS)), ...naiveOf(hourly)], {
        title: 'M4 hourly',
        winner: 0.819,
      }),
      reportCompetition(weekly, [...(await entriesOf(weekly, USUAL_PEERS)), ...naiveOf(weekly)], {
        title: 'M4 weekly',
        winner: 2.108,
      }),
      reportFiles(nab, await entriesOf(nab, NAB_PEERS), naiveOf(nab)),
    ];
    return {
      markdown: reports.flatMap(({ markdown }) => [...markdown, '']).concat(LEGEND),
      figures: Object.assign({ model: name }, ...reports.map(({ figures }) => figures)),
    };
  } finally {
    await forecasters.close();
  }
}

const [PACKAGE, VERSION] = STATSFORECAST.split('==');
const LEGEND = [
  'Smaller errors are better; coverage should equal the level. Not calibrated: the quantiles of the model itself. MASE and',
  'seasons as in the competition. WQL: weighted quantile loss of the nine deciles. NAB: 300 places in every file that is not',
  'constant, the day before as seasonal naive forecast, geometric mean over files; errors count as at least a hundredth of a',
  "file's deviation; coverage outside of the labelled anomalies.",
  `AutoETS and AutoTheta: ${PACKAGE} ${VERSION}, from the last ${HISTORY_MAX.m4_hourly} values of a series; on NAB from the last ` +
    `${HISTORY_MAX.nab}, without season.`,
];

/** Replaces the section between the marks of a file. */
async function writeSection(path: string, section: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const begin = text.indexOf(SECTION.begin) + SECTION.begin.length;
  const end = text.indexOf(SECTION.end);
  if (begin < SECTION.begin.length || end < begin) throw new Error(`${path} has no marks for the section`);
  await writeFile(path, `${text.slice(0, begin)}${section}\n${text.slice(end)}`);
}
