import kafkajs from 'kafkajs';

/** The partition that Kafka's own clients choose for a key (murmur2), among so many. */
export function keyPartitioner(partitions: number): (key: Buffer) => number {
  const partitioner = kafkajs.Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    leader: 0,
    partitionErrorCode: 0,
    replicas: [],
    isr: [],
  }));
  return (key) => partitioner({ topic: '', partitionMetadata, message: { key, value: null } });
}
