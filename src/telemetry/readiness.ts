/** What a worker can say of itself. */
export interface WorkerCondition {
  readonly brokerConnected: boolean;
  /** Whether the group has given this worker its partitions, even if none: a worker too many is ready to take over. */
  readonly assigned: boolean;
  /** Partitions whose state is not restored yet. */
  readonly restoring: readonly number[];
}

/** Why a worker is not ready, one sentence each; none when it is. */
export function reasonsNotReady({ brokerConnected, assigned, restoring }: WorkerCondition): readonly string[] {
  const reasons: string[] = [];
  if (!brokerConnected) reasons.push('Kafka is out of reach');
  if (!assigned) reasons.push('no partitions were assigned yet');
  if (restoring.length > 0) reasons.push(`state is being restored: partitions ${restoring.join(', ')}`);
  return reasons;
}
