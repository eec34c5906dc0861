import type { HistoryReader } from '../../history/port/history-port.ts';
import { ALL_EVENTS } from '../../history/port/span-port.ts';
import type { AnomalyEvent } from '../../records/anomaly-event.ts';
import { CHANGES_NOTIFIED_MAX } from '../../records/changes/change-limits.ts';
import { changeText, type Deployment } from '../../records/changes/deployment.ts';
import type { ConcernedSubject, Deployments } from '../../records/changes/deployments.ts';
import type { Incident, IncidentOrigin } from '../../records/incident.ts';

/** An event of a group concerns its members, too. */
export function concernedBy(event: AnomalyEvent): readonly ConcernedSubject[] {
  const { labels, seriesLabels } = event;
  return [event, ...event.members.map(({ series }) => ({ series, group: null, labels, seriesLabels }))];
}

/** A series, with the labels of its newest event: its id may hide them. */
export async function concernedSeries(reader: HistoryReader, series: string): Promise<readonly ConcernedSubject[]> {
  const { events } = await reader.listEvents({ ...ALL_EVENTS, series, limit: 1 });
  const own = events.filter((event) => event.series === series);
  return [{ series, group: null, labels: own[0]?.labels ?? {}, seriesLabels: own[0]?.seriesLabels ?? {} }];
}

/** Origins with the changes that concern them and came shortly before, as evidence. Records have none of it. */
export function withChanges<T extends IncidentOrigin>(
  origins: readonly T[],
  { startedAtMs, events }: Incident,
  changes: Deployments,
): readonly T[] {
  return origins.map((origin) => {
    const { series } = origin;
    const own = events.filter((event) => (event.series ?? event.group) === series);
    const found = changes.before(own.length > 0 ? own : [{ series, group: null }], startedAtMs).filter(choosesSeries);
    const texts = found.slice(0, CHANGES_NOTIFIED_MAX).map((change) => changeText(change, startedAtMs));
    return texts.length === 0 ? origin : { ...origin, evidence: [...origin.evidence, ...texts] };
  });
}

/** A change that concerns all is no evidence for one. */
function choosesSeries({ labels, series }: Deployment): boolean {
  return series !== null || Object.keys(labels).length > 0;
}
