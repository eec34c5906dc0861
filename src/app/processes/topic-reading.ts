import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../../codecs/formats/quoted.ts';
import type { InputRecord } from '../../kafka/batch/records.ts';
import type { TopicTail } from '../../kafka/fetch/topic-tail.ts';
import { ServiceError } from '../../ops/service-error.ts';
import { aborted } from '../../tools/terminal/command-io.ts';

const RETRY_MS = 2_000;

/** Waits for the next attempt, or the signal. */
export async function pause(signal: AbortSignal): Promise<void> {
  await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
}

/** Keeps a tail open until the signal. A failure, such as of a topic that is missing, is reported and tried again. */
export async function keepTail(
  open: () => Promise<TopicTail>,
  { signal, report }: { readonly signal: AbortSignal; report(error: Error | null): void },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const tail = await open();
      report(null);
      await aborted(signal);
      await tail.stop();
    } catch (error) {
      report(error as Error);
      await pause(signal);
    }
  }
}

export function isMissingTopic(error: Error): boolean {
  return error instanceof ServiceError && error.code === 'topic-mismatch';
}

/**
 * Reads the records that can be read: other programs may write to a topic. Rejects with a ServiceError while a schema
 * cannot be fetched; the records are read again then.
 */
export async function readEach<T, R extends Pick<InputRecord, 'value'>>(
  records: readonly R[],
  read: (value: Buffer, record: R) => Promise<T>,
  onUnreadable: (record: R, reason: string) => void = () => {},
): Promise<T[]> {
  const found: T[] = [];
  for (const record of records) {
    if (record.value === null) continue;
    try {
      found.push(await read(record.value, record));
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      onUnreadable(record, reasonOf(error));
    }
  }
  return found;
}
