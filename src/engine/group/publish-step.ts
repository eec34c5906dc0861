import type { PendingObservation, PendingStep } from '../../checkpoint/pending-steps.ts';
import { earlierValue } from '../../detection/series/earlier-value.ts';
import type { GroupDetection } from '../../detection/series/group-detector.ts';
import { inputAt, type ScoreRecord } from '../../records/score-record.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { scoreOfRow } from '../unit/series-score.ts';
import type { UnitEvents } from '../unit/unit-events.ts';
import type { GroupSilence, SilentGroup } from './group-silence.ts';

/** A group has no interval. */
const NO_BOUNDS = { lo: Number.NaN, hi: Number.NaN };

const NOTHING_OBSERVED: PendingStep['observations'] = new Map();

interface ScoredStep {
  readonly position: number;
  /** null: nothing was observed in it. */
  readonly step: PendingStep | null;
  readonly scored: GroupDetection;
  readonly recordKey: Buffer;
}

/** Publishes a time step of a group: scores of its members, members that are back, and its events. */
export function publishStep(
  group: SilentGroup & { readonly silence: GroupSilence },
  { position, step, scored, recordKey }: ScoredStep,
  sink: ScoreSink,
): void {
  if (step === null) sink.counters.gapFilled();
  const observations = step?.observations ?? NOTHING_OBSERVED;
  group.members.forEach((member, i) => {
    const observation = observations.get(member.series);
    if (observation === undefined) return;
    group.silence.endSilence(group, member, { ...observation, position }, sink);
    const row = { series: member.series, observation, own: scored.members[i] };
    sink.outputs.score(memberScore(group, scored, row), recordKey, observation.headers);
  });
  const [first] = observations.values();
  if (first !== undefined) group.silence.conclude(group, { ...first, position }, sink);
  if (wantsStep(group.events, scored.alarm, observations))
    trackStep(group, { position, scored, recordKey }, observations, sink);
}

interface MemberRow {
  readonly series: string;
  readonly observation: PendingObservation;
  readonly own: GroupDetection['members'][number];
}

/** The score of one member in a time step: its own numbers, and the verdict on the group. */
function memberScore(
  { loaded, group, restarted, place }: SilentGroup,
  { accumulatedScore, anomaly, grade, severity, alarm, calibrated }: GroupDetection,
  { series, observation: { timestampMs, value, offset }, own }: MemberRow,
): ScoreRecord {
  const isScored = own.state === 'calibrating' || own.state === 'scored';
  const state: ScoreRecord['state'] = isScored ? (calibrated ? 'scored' : 'calibrating') : own.state;
  const { forecast, score, position, windowStart } = own;
  const verdict = { anomaly, grade, severity, alarm, state };
  return scoreOfRow(
    { forecast, ...NO_BOUNDS, score, ...verdict, position, windowStart },
    { series, group, timestampMs, value },
    { loaded, cause: null, restarted: restarted !== null, input: inputAt(place, offset), accumulatedScore },
  );
}

/** Events of a time step of a group. It has the time of its first observation, and the offset of its newest. */
function trackStep(
  { events, members, originMs }: SilentGroup,
  { position, scored, recordKey }: Omit<ScoredStep, 'step'>,
  observations: PendingStep['observations'],
  sink: ScoreSink,
): void {
  const [first] = observations.values();
  const row = {
    position,
    timestampMs: first?.timestampMs ?? Math.round(originMs + position * events.stepMs),
    offset: Math.max(-1, ...Array.from(observations.values(), ({ offset }) => offset)),
    verdict: scored,
    seen: members.flatMap(({ series, detector }, i) => {
      const value = observations.get(series)?.value;
      if (value === undefined) return [];
      const { forecast: expected, unusual, season } = scored.members[i];
      const { rings, origin } = detector;
      const earlier = (before: number) => {
        const known = earlierValue(detector, before);
        return known && { ...known, ...NO_BOUNDS };
      };
      return [{ series, value, expected, ...NO_BOUNDS, sharp: unusual?.sharp ?? 0, season, rings, origin, earlier }];
    }),
    keptOf: (series: string) => members.find((member) => member.series === series)?.detector ?? null,
  };
  events.track(row, recordKey, sink);
}

function wantsStep(events: UnitEvents, alarm: boolean, observations: PendingStep['observations']): boolean {
  if (events.wants(alarm, Number.NaN)) return true;
  for (const { value } of observations.values()) if (events.wants(alarm, value)) return true;
  return false;
}
