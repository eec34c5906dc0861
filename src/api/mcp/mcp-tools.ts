import Type, { type TObject } from 'typebox';
import { EVENT_KINDS } from '../../records/anomaly-event.ts';
import { INCIDENT_KINDS } from '../../records/incident.ts';

/** Asks the service for an answer in JSON, by a path with its query. Throws a ToolProblem for a refusal. */
export type Ask = (
  path: string,
  query?: Readonly<Record<string, unknown>>,
) => Promise<Readonly<Record<string, unknown>>>;

/** A refusal of the service, in the words of its answer. */
export class ToolProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: TObject;
  /** @param args valid against `input`; @param rowsMax most rows of the answer */
  run(ask: Ask, args: Readonly<Record<string, unknown>>, rowsMax: number): Promise<unknown>;
}

const TEXT_LENGTH_MAX = 4_096;
const text = (description: string) => Type.String({ minLength: 1, maxLength: TEXT_LENGTH_MAX, description });
const optional = (description: string) => Type.Optional(text(description));
const time = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,3})?)?(Z|[+-]\\d\\d:\\d\\d)$',
      description: `${description} ISO 8601 with its zone, such as 2026-11-27T18:00:00Z.`,
    }),
  );
const PAGE = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, description: 'Most rows of the answer. Default: 50.' }),
  ),
  cursor: optional('`next_cursor` of the page before.'),
};
const MATCH = optional('Glob over ids of series, or matchers of labels such as {job=~"web-.*"}.');
const DETECTOR = optional('Name of a detector.');
const RANGE = { from: time('Ended at or after.'), to: time('Started before.') };
const PAGE_ROWS = 50;
/** Scores before and behind an event that its explanation shows: as long as the event, and at least so long. */
const MARGIN_MS_MIN = 6 * 3_600_000;

/** Tools of assistants. All of them read, and none starts a job. */
export const MCP_TOOLS: readonly McpTool[] = [
  {
    name: 'list_events',
    title: 'List events',
    description:
      'Lists anomaly events, open ones first, then the newest. An event is a stretch of alarms of one series or ' +
      'group: kind, start, peak, end, grade (how unusual, 0 to 1), severity, one sentence, what people did about it.',
    input: Type.Object({
      open: Type.Optional(Type.Boolean({ description: 'true: only open events; false: only closed ones.' })),
      kind: Type.Optional(Type.Enum([...EVENT_KINDS], { description: 'Kind of the event.' })),
      series: optional('Id of a series.'),
      match: MATCH,
      detector: DETECTOR,
      incident: optional('Id of an incident.'),
      ...RANGE,
      ...PAGE,
    }),
    run: (ask, args, rowsMax) => ask('/v1/events', page(args, rowsMax)),
  },
  {
    name: 'list_incidents',
    title: 'List incidents',
    description: 'Lists incidents (events of several series that belong together), open ones first, then the newest.',
    input: Type.Object({
      open: Type.Optional(Type.Boolean({ description: 'true: only open incidents; false: only closed ones.' })),
      kind: Type.Optional(Type.Enum([...INCIDENT_KINDS], { description: 'Kind of the incident.' })),
      match: MATCH,
      detector: DETECTOR,
      ...RANGE,
      ...PAGE,
    }),
    run: (ask, args, rowsMax) => ask('/v1/incidents', page(args, rowsMax)),
  },
  {
    name: 'explain_event',
    title: 'Explain an event',
    description:
      'Returns one event with the scores around it (value, forecast, band), deployments and other changes before ' +
      'it, the incident that it is part of, and the messages that were sent about it.',
    input: Type.Object({ id: text('`eventId` of list_events.') }),
    run: explainEvent,
  },
  {
    name: 'explain_incident',
    title: 'Explain an incident',
    description:
      'Returns one incident: its events, where it may have begun with the evidence (the origin is unknown if the ' +
      'first candidate has a score below 1/3, or 1.25 times the second), similar incidents, and changes before it.',
    input: Type.Object({ id: text('`incidentId` of list_incidents.') }),
    run: async (ask, { id }, limit) => {
      const incident = await ask(`/v1/incidents/${encodeURIComponent(String(id))}`);
      return { incident, changes: await ask('/v1/changes', { incident: id, limit }) };
    },
  },
  {
    name: 'get_series',
    title: 'Get the scores of a series',
    description:
      'Returns values of one series with forecast, band (lo, hi), grade and alarms in columns, oldest first. A ' +
      'longer range is downsampled to buckets (`bucket_ms`) of at most 200 points.',
    input: Type.Object({
      id: text('Id of the series.'),
      from: time('First event time. Default: the oldest that is kept.'),
      to: time('End, exclusive. Default: after the newest.'),
    }),
    run: (ask, { id, from, to }, rowsMax) =>
      ask(`/v1/series/${encodeURIComponent(String(id))}/scores`, { from: ms(from), to: ms(to), points: rowsMax }),
  },
  {
    name: 'search_series',
    title: 'Search series',
    description:
      'Finds scored series by labels, a glob or a part of their id, worst first, each with its newest score.',
    input: Type.Object({
      match: MATCH,
      search: optional('Text that the id contains, whatever its case.'),
      detector: DETECTOR,
      group: optional('Id of a group: its members.'),
      alarm: Type.Optional(Type.Boolean({ description: 'true: only series whose newest observation is an alarm.' })),
      sort: Type.Optional(Type.Enum(['grade', 'name'], { description: 'grade (default): worst first; name: by id.' })),
      ...PAGE,
    }),
    run: (ask, args, rowsMax) => ask('/v1/series', page(args, rowsMax)),
  },
  {
    name: 'get_freshness',
    title: 'Get the freshness of the data',
    description: 'Returns how recent scores and events are, the lag of workers, and its cause. Ask this first.',
    input: Type.Object({}),
    run: (ask) => ask('/v1/freshness'),
  },
];

function page({ from, to, limit, ...args }: Readonly<Record<string, unknown>>, rowsMax: number) {
  return { ...args, from: ms(from), to: ms(to), limit: Math.min(Number(limit ?? PAGE_ROWS), rowsMax) };
}

/** Throws a ToolProblem for a time that no calendar has. */
function ms(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  const atMs = Date.parse(String(text));
  if (Number.isNaN(atMs) || atMs < 0) throw new ToolProblem(422, `${String(text)} is no time since 1970`);
  return atMs;
}

async function explainEvent(ask: Ask, { id }: Readonly<Record<string, unknown>>, rowsMax: number): Promise<unknown> {
  const event = await ask(`/v1/events/${encodeURIComponent(String(id))}`);
  const { series, startedAtMs, updatedAtMs, endedAtMs, incidentId } = event as Readonly<
    Record<string, number & string>
  >;
  const endMs = endedAtMs ?? updatedAtMs;
  const marginMs = Math.max(MARGIN_MS_MIN, endMs - startedAtMs);
  const range = { from: Math.max(0, startedAtMs - marginMs), to: endMs + marginMs, points: rowsMax };
  const [scores, changes, sent, incident] = await Promise.all([
    series === null ? null : ask(`/v1/series/${encodeURIComponent(series)}/scores`, range).catch(missing),
    ask('/v1/changes', { event: id, limit: rowsMax }),
    ask('/v1/sent', { event: id, limit: rowsMax }),
    incidentId === null ? null : ask(`/v1/incidents/${encodeURIComponent(incidentId)}`).catch(missing),
  ]);
  return { event, scores, changes, sent, incident };
}

/** Scores expire before their event does. */
function missing(error: unknown): null {
  if (error instanceof ToolProblem && error.status === 404) return null;
  throw error;
}
