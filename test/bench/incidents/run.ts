/** Incidents: which service is ranked first, how many pieces a fault becomes, and what stays alone. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from '../bench.ts';
import { printTable, rounded } from '../table.ts';
import { ownResults, readCases, readHistory, simpleResult } from './fault-cases.ts';
import { type CaseCard, caseCard, type IncidentFigures, incidentFigures } from './incident-card.ts';
import { sentFigures } from './sent-incident.ts';
import { aloneFigures, fleetPieces, pairsSeparated } from './simulated-fleet.ts';

const DATA = fileURLToPath(new URL('../../../../shared/incidents', import.meta.url));
const CLEAN_SERIES = 10_000;
const PAIRS = 50;

/**
 * @param args `--data FOLDER` with manifest.json and data/, by default `../shared/incidents`; `--set NAME`: one set
 */
export async function run(args: readonly string[]): Promise<Figures> {
  const { values: flags } = parseArgs({
    args: [...args],
    options: { data: { type: 'string', default: DATA }, set: { type: 'string' } },
  });
  const simulated = {
    pairs_separated: rounded(pairsSeparated(PAIRS)),
    fleet_pieces: fleetPieces(),
    ...aloneFigures(CLEAN_SERIES),
  };
  printTable(
    'Simulated events of fleets',
    ['figure', 'value'],
    Object.entries(simulated).map(([name, value]) => [name, value]),
  );
  return { ...(await labelledFigures(flags)), ...simulated, ...(await sentFigures()) };
}

async function labelledFigures({
  data,
  set,
}: {
  readonly data: string;
  readonly set?: string | undefined;
}): Promise<Figures> {
  const cases = readCases(data)?.filter((each) => set === undefined || each.set === set) ?? null;
  if (cases === null) {
    console.log(`No labelled cases in ${join(data, 'manifest.json')}: rankings are not measured.`);
    return {};
  }
  const histories = cases.map((each) => readHistory(data, each));
  const own = await ownResults(histories);
  const rankings: Readonly<Record<string, readonly CaseCard[]>> = {
    ours: cases.map((each, i) => caseCard(each, own[i])),
    nsigma: cases.map((each, i) => caseCard(each, simpleResult(each, histories[i]))),
  };
  const sets = [...new Set(cases.map((each) => each.set))];
  const figures: Record<string, number> = {};
  const rows: (string | number)[][] = [];
  for (const [ranking, cards] of Object.entries(rankings)) {
    for (const each of [null, ...sets]) {
      const of = incidentFigures(each === null ? cards : cards.filter((card) => card.set === each));
      const { ac1, ac3, avg5, found, pieces, before, unknown, ac1Known } = of;
      rows.push([ranking, each ?? 'all', ac1, ac3, avg5, found, pieces, before, unknown, ac1Known]);
      const prefix = [ranking === 'ours' ? null : ranking, each].filter((part) => part !== null);
      for (const key of keysOf(ranking, of)) {
        const name = [...prefix, key === 'ac1Known' ? 'ac1_known' : key].join('_');
        figures[name] = rounded(of[key]);
      }
    }
  }
  const columns = ['ranking', 'set', 'AC@1', 'AC@3', 'Avg@5', 'found', 'pieces', 'before', 'unknown', 'AC@1 of known'];
  printTable('Rankings of services', columns, rows);
  return figures;
}

/** The simple scorers are given the onset: only their ranking counts. */
function keysOf(ranking: string, figures: IncidentFigures): readonly (keyof IncidentFigures)[] {
  const all = Object.keys(figures) as (keyof IncidentFigures)[];
  return ranking === 'ours' ? all : all.filter((key) => ['ac1', 'ac3', 'avg5'].includes(key));
}
