import { type Incident, type IncidentEvent, isOriginKnown } from '../records/incident.ts';
import type { IncidentMember } from './incident-member.ts';
import type { Dependencies } from './membership/dependencies.ts';
import type { FleetPast } from './membership/fleet-past.ts';
import { partsOf } from './membership/series-parts.ts';
import { rankOrigins, type SeriesMove, STRENGTH_MAX } from './origins/rank-origins.ts';

/** Larger incidents do not look up which series led which. */
const LED_AMONG_MAX = 40;
const LED_MIN = 2;

type RevisionHead = Pick<
  Incident,
  'incidentId' | 'type' | 'revision' | 'kind' | 'usualCount' | 'openedOrigins' | 'mergedInto'
>;

interface RevisionContent {
  /** In the order of their onsets. */
  readonly members: readonly IncidentMember[];
  /** Members that no earlier revision has named. */
  readonly named: readonly (readonly [eventId: string, member: IncidentMember])[];
  readonly past: FleetPast;
  readonly dependencies: Dependencies;
}

/** Returns the next record of an incident. */
export function incidentRevision(head: RevisionHead, content: RevisionContent): Incident {
  const { members, named, past, dependencies } = content;
  const origins = rankOrigins(movesOf(members, past), dependencies);
  const severity = Math.max(...members.map((member) => member.severity ?? Number.NEGATIVE_INFINITY));
  const grade = Math.max(...members.map((member) => member.grade ?? Number.NEGATIVE_INFINITY));
  const isOver = head.type === 'closed' || members.every(({ endedAtMs }) => endedAtMs !== null);
  const revision = {
    ...head,
    startedAtMs: Math.min(...members.map(({ atMs }) => atMs)),
    updatedAtMs: Math.max(...members.map(({ updatedAtMs }) => updatedAtMs)),
    endedAtMs: isOver ? Math.max(...members.map(({ endedAtMs, updatedAtMs }) => endedAtMs ?? updatedAtMs)) : null,
    severity: Number.isFinite(severity) ? severity : null,
    grade: Number.isFinite(grade) ? grade : null,
    eventCount: members.length,
    seriesCount: new Set(members.map(({ series }) => series)).size,
    events: named.map(([eventId, member]) => incidentEvent(eventId, member)),
    origins,
    openedOrigins: head.revision === 0 ? origins : head.openedOrigins,
  };
  return { ...revision, summary: incidentSummary(revision) };
}

/** Returns an event as a revision names it. */
export function incidentEvent(
  eventId: string,
  { detector, isGroup, isPause, series, kind, direction, startedAtMs, labels, seriesLabels }: IncidentMember,
): IncidentEvent {
  return {
    eventId,
    detector,
    series: isGroup || isPause ? null : series,
    group: isGroup ? series : null,
    kind,
    direction,
    startedAtMs,
    labels,
    seriesLabels,
  };
}

function movesOf(members: readonly IncidentMember[], past: FleetPast): readonly SeriesMove[] {
  return [...Map.groupBy(members, ({ series }) => series).values()].map((all) => {
    const farthest = all.reduce((one, other) => ((other.grade ?? 0) > (one.grade ?? 0) ? other : one));
    const { series, seen } = farthest;
    return {
      ...originMove(farthest),
      series,
      parts: partsOf(series, farthest),
      firstAlarmAtMs: Math.min(...all.map(({ atMs }) => atMs)),
      seen,
      led: ledBy(farthest, members, past),
    };
  });
}

/** Returns what the weight of an event in the ranking depends on. */
export function originMove({ strength, threshold = null, grade, kind }: IncidentMember) {
  return { grade: grade ?? 0, threshold, isFlat: strength === STRENGTH_MAX || kind === 'stuck' };
}

/** Returns how often the series led the one that it led most often. */
function ledBy(member: IncidentMember, members: readonly IncidentMember[], past: FleetPast): SeriesMove['led'] {
  if (members.length > LED_AMONG_MAX) return null;
  let led: SeriesMove['led'] = null;
  for (const other of members) {
    if (other.series === member.series) continue;
    const before = past.together(member.series, other.series, Math.max(member.atMs, other.atMs));
    if (before.both >= LED_MIN && before.led > (led?.count ?? 0)) led = { count: before.led, of: before.both };
  }
  return led;
}

type IncidentFacts = Pick<Incident, 'kind' | 'seriesCount' | 'usualCount' | 'origins'>;

/** Returns one sentence with what happened and the likely origin. */
function incidentSummary({ kind, seriesCount, usualCount, origins }: IncidentFacts): string {
  const first = origins[0];
  const known = isOriginKnown(origins) ? `likely origin ${first.common ?? first.series}` : 'origin unknown';
  const began = first === undefined ? '' : `; ${known}`;
  switch (kind) {
    case 'pause':
      return `The input stopped: ${counted(seriesCount, 'detector')} without a value`;
    case 'simultaneous':
      return `${counted(seriesCount, 'series')} at once${usualCount === null ? '' : `; usually ${usualCount}`}${began}`;
    case 'related':
      return `${seriesCount} related series${began}`;
    case 'single':
      return `One event of ${first?.series ?? 'a series'}`;
  }
}

function counted(count: number, what: string): string {
  return `${count} ${count === 1 || what === 'series' ? what : `${what}s`}`;
}
