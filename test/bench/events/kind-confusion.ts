/** Kinds of events against the incidents that were put into generated series. */
import { EVENT_KINDS, type EventKind } from '../../../src/records/anomaly-event.ts';
import type { Figures } from '../bench.ts';
import { INJECTED_KINDS, type InjectedKind, type InjectedSeries } from '../detection/injected-incidents.ts';
import { judge } from '../detection/product.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { eventSpans, eventsOf } from './event-rows.ts';

/** What a person would call each of them. Noise that grows for a while has no other name. */
const TRUTH: Readonly<Record<InjectedKind, EventKind>> = {
  spike: 'spike',
  dip: 'dip',
  'level shift': 'level_shift',
  drift: 'drift',
  'missing season': 'missing_season',
  stuck: 'stuck',
  burst: 'burst',
  'noise change': 'burst',
};
const SAID = EVENT_KINDS.filter((kind) => kind !== 'silence');

export interface Classified {
  readonly truth: InjectedKind;
  /** null where no event found it. */
  readonly said: EventKind | null;
}

/** Series with odd numbers chose the rules; those with even numbers report. */
export async function kindFigures(inputs: readonly InjectedSeries[]): Promise<Figures> {
  const verdicts = await judge(inputs);
  const all = inputs.map((input, i) => classified(input, eventSpans(verdicts[i].events, input)));
  const chosen = all.filter((_, i) => i % 2 === 1).flat();
  const reported = all.filter((_, i) => i % 2 === 0).flat();
  confusion('kinds of incidents in generated series that rules were chosen on', chosen);
  confusion('kinds of incidents in generated series that are reported', reported);
  return { kind_accuracy: rounded(accuracyOf(reported)) };
}

export function classified({ incidents }: InjectedSeries, spans: ReturnType<typeof eventSpans>): Classified[] {
  return incidents.map((incident) => ({ truth: incident.kind, said: eventsOf(incident, spans)[0]?.kind ?? null }));
}

/** Among those that were found. */
export function accuracyOf(all: readonly Classified[]): number {
  const found = all.filter(({ said }) => said !== null);
  return found.filter(({ truth, said }) => said === TRUTH[truth]).length / found.length;
}

function confusion(title: string, all: readonly Classified[]): void {
  const rows = INJECTED_KINDS.map((kind): Cell[] => {
    const of = all.filter(({ truth }) => truth === kind);
    const said = SAID.map((name) => of.filter((each) => each.said === name).length);
    return [kind, ...said, of.filter((each) => each.said === null).length, accuracyOf(of)];
  });
  printTable(title, ['incident', ...SAID, 'not found', 'right'], rows);
}
