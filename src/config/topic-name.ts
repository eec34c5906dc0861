/** Characters that Kafka allows in the name of a topic. */
const NAME_LENGTH_MAX = 249;

/** The name of a topic that belongs to a consumer group: what a topic cannot be named becomes a dash. */
export function topicNameOf(groupId: string, lengthMax = NAME_LENGTH_MAX): string {
  return groupId.replaceAll(/[^a-zA-Z0-9._-]/g, '-').slice(0, lengthMax);
}
