/** Why a record is late, in the words of its dead letter. */
export function lateness(timestampMs: number): string {
  return `${new Date(timestampMs).toISOString()} is older than the newest observation of its series`;
}
