/** Labelled incidents and what the events make of them. */
import type { Figures } from '../bench.ts';
import { median, segmentsOf } from '../detection/event-segments.ts';
import { isReported, type LabelledInput } from '../detection/labelled-data.ts';
import { judge } from '../detection/product.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { eventSpans, eventsOf } from './event-rows.ts';

const DAY_MS = 86_400_000;

/** What became of the incidents of one file. */
export interface IncidentRecord {
  readonly name: string;
  readonly days: number;
  readonly events: number;
  /** Events of no incident. */
  readonly others: number;
  /** For each incident its number of events, and the rows from its start until the first was opened. */
  readonly incidents: readonly { readonly events: number; readonly delay: number | null }[];
}

export async function incidentFigures(
  series: readonly LabelledInput[],
  groups: readonly LabelledInput[],
): Promise<Figures> {
  const inputs = [...series, ...groups];
  if (inputs.length === 0) {
    console.log('Without labelled series: there is no folder detection.');
    return {};
  }
  const verdicts = await judge(inputs);
  const records = inputs.map((input, i) => incidentRecord(input, eventSpans(verdicts[i].events, input)));
  const rows: Cell[][] = [
    setRow(
      'chosen on',
      records.filter((record) => !isReported(record)),
    ),
    setRow('reported', records.filter(isReported)),
  ];
  printTable(
    'events of labelled series and groups with the default promise, whole files',
    [
      ...['series', 'a day', 'of no incident a day', 'incidents', 'found', 'found in one event'],
      ...['events an incident', 'delay of opened, rows (median)'],
    ],
    rows,
  );
  return figuresOf(records.filter(isReported));
}

export function incidentRecord(input: LabelledInput, spans: ReturnType<typeof eventSpans>): IncidentRecord {
  const incidents = segmentsOf(input.labels).map((incident) => ({
    start: incident.start,
    own: eventsOf(incident, spans),
  }));
  const own = new Set(incidents.flatMap((incident) => incident.own));
  return {
    name: input.name,
    days: (input.times.length * input.stepMs) / DAY_MS,
    events: spans.length,
    others: spans.length - own.size,
    incidents: incidents.map(({ start, own: [first, ...more] }) => ({
      events: first === undefined ? 0 : 1 + more.length,
      delay: first === undefined ? null : Math.max(0, first.opened - start),
    })),
  };
}

function measures(records: readonly IncidentRecord[]) {
  const sum = (of: (record: IncidentRecord) => number) => records.reduce((total, record) => total + of(record), 0);
  const days = sum((record) => record.days);
  const incidents = records.flatMap((record) => record.incidents);
  const found = incidents.filter(({ events }) => events > 0);
  return {
    daily: sum(({ events }) => events) / days,
    otherDaily: sum(({ others }) => others) / days,
    incidents: incidents.length,
    found: found.length / incidents.length,
    inOne: found.filter(({ events }) => events === 1).length / found.length,
    each: found.reduce((total, { events }) => total + events, 0) / found.length,
    delay: median(found.flatMap(({ delay }) => delay ?? [])),
  };
}

function setRow(set: string, records: readonly IncidentRecord[]): Cell[] {
  const { daily, otherDaily, incidents, found, inOne, each, delay } = measures(records);
  return [set, daily, otherDaily, incidents, found, inOne, each, delay];
}

function figuresOf(records: readonly IncidentRecord[]): Figures {
  const { daily, found, inOne, each, delay } = measures(records);
  return {
    events_per_day: rounded(daily),
    incidents_found: rounded(found),
    incidents_in_one_event: rounded(inOne),
    events_per_incident: rounded(each),
    median_delay: rounded(delay),
  };
}
