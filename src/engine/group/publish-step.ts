import type { PendingStep } from '../../checkpoint/pending-steps.ts';
import type { GroupDetection } from '../../detection/series/group-detector.ts';
import type { ScoreSink } from '../unit/score-sink.ts';
import { followStep, NOTHING_OBSERVED } from './group-events.ts';
import type { GroupSilence, SilentGroup } from './group-silence.ts';
import { memberScore } from './member-score.ts';

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
  const { members, loaded, restarted, place, events, originMs } = group;
  members.forEach((member, i) => {
    const observation = step?.observations.get(member.series);
    if (observation === undefined) return;
    group.silence.observed(group, member, { ...observation, position }, sink);
    const row = { group: scored, member: scored.members[i], series: member.series, observation };
    const score = memberScore(row, { loaded, group: group.group, restarted, place });
    sink.outputs.score(score, recordKey, observation.headers);
  });
  const observations = step?.observations ?? NOTHING_OBSERVED;
  const [first] = observations.values();
  if (first !== undefined) group.silence.conclude(group, { ...first, position }, sink);
  followStep(events, { position, scored, observations, members, originMs }, { key: recordKey, sink });
}
