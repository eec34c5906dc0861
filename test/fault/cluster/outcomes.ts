import type { Topics } from '../../../src/config/config.ts';
import type { Outcome } from './comparison.ts';

/** Scores are compared byte for byte, dead letters by their reasons: they hold the time of their refusal. */
export function noteOutput(
  topic: string,
  value: Buffer | null,
  { topics, note }: { readonly topics: Topics; readonly note: (outcome: Outcome) => void },
): void {
  if (value === null || (topic !== topics.scores && topic !== topics.deadLetters)) return;
  const {
    input,
    reason,
    state = '',
  } = JSON.parse(value.toString()) as {
    readonly input: { readonly partition: number; readonly offset: number };
    readonly reason?: string;
    readonly state?: string;
  };
  const { partition, offset } = input;
  // A silence has the offset of the last observation.
  const kind = state === 'silent' || state === 'returned' ? state : 'observation';
  note({ partition, offset, kind, content: topic === topics.scores ? value.toString() : `dead letter: ${reason}` });
}
