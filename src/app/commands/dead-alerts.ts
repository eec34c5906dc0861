import { typeOf } from '../../alerts/message/notification.ts';
import { oneLine } from '../../alerts/message/plain-text.ts';
import { placeOf } from '../../alerts/message/template-fields.ts';
import { readDeadAlerts } from '../../alerts/state/outbox.ts';
import type { KafkaConfig } from '../../config/config.ts';
import { readTail } from '../../kafka/fetch/topic-tail.ts';
import { type CommandIo, DONE, type ExitCode } from '../../tools/terminal/command-io.ts';
import { formatTime } from '../../tools/terminal/score-line.ts';

const RECORDS_MAX = 10_000_000;
const SUBJECTS_SHOWN_MAX = 3;

interface DeadLetterFlags {
  readonly kafka: KafkaConfig;
  readonly stateTopic: string;
  readonly json: boolean;
}

/** Prints what was given up, the oldest first. The process that sends is not disturbed. */
export async function printDeadLetters({ kafka, stateTopic, json }: DeadLetterFlags, io: CommandIo): Promise<ExitCode> {
  const records = await readTail({ config: kafka }, { topic: stateTopic, partition: 0, recordsMax: RECORDS_MAX });
  const deadLetters = readDeadAlerts(
    records.map(({ key, value }) => ({ key: key?.toString() ?? '', json: value?.toString() ?? null })),
  );
  for (const { notification, reason, detail, atMs } of deadLetters) {
    if (json) {
      io.out(JSON.stringify({ atMs, reason, detail, notification }));
      continue;
    }
    const { receiver, route, id, notices } = notification;
    const subjects = notices.slice(0, SUBJECTS_SHOWN_MAX).map((notice) => oneLine(placeOf(notice)));
    const more = notices.length > SUBJECTS_SHOWN_MAX ? ` and ${notices.length - SUBJECTS_SHOWN_MAX} more` : '';
    const what = `${typeOf(notification)} ${subjects.join(', ')}${more}`;
    io.out(`${formatTime(atMs)}  ${receiver}  ${route}  ${what}  ${reason}: ${detail}  ${id}`);
  }
  io.err(deadLetters.length === 0 ? 'Nothing was given up.' : `${deadLetters.length} were given up.`);
  return DONE;
}
