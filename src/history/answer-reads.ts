import type { HistoryReader, SeriesScores } from './history-port.ts';
import type { HistoryMessage, HistoryQuestion } from './remote-history.ts';

type Send = (message: HistoryMessage, transfer?: readonly ArrayBuffer[]) => void;

/** Answers a read that came over a port. Columns are moved, not copied. */
export async function answerRead(
  reader: HistoryReader | null,
  { id, read, args }: Extract<HistoryQuestion, { kind: 'read' }>,
  send: Send,
): Promise<void> {
  if (reader === null) return send({ kind: 'failed', id, reason: 'it is not open yet' });
  try {
    const value = await (reader[read] as (...args: readonly unknown[]) => Promise<unknown>).call(reader, ...args);
    send({ kind: 'answer', id, value }, read === 'scores' ? buffersOf(value as SeriesScores | null) : []);
  } catch (error) {
    send({ kind: 'failed', id, reason: (error as Error).message });
  }
}

function buffersOf(scores: SeriesScores | null): ArrayBuffer[] {
  return scores === null ? [] : Object.values(scores.columns).map(({ buffer }) => buffer as ArrayBuffer);
}
