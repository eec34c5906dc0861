import type { KafkaConfig } from '../../config/config.ts';
import type { KafkaConnection } from '../../kafka/cluster/connection.ts';
import type { Logger } from '../../ops/logger.ts';

/** A cluster whose client writes to the log. */
export function loggedConnection(
  config: KafkaConfig,
  logger: Logger,
): Required<Pick<KafkaConnection, 'config' | 'log'>> {
  return { config, log: (level, text, detail) => logger[level](detail ?? {}, text) };
}
