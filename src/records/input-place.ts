export interface InputPlace {
  readonly topic: string;
  readonly partition: number;
}

/**
 * The offset of a record that is in another partition than the state of its series does since the input got more
 * partitions: one number below every offset, which encodes both. Numbers of one partition ascend as its offsets do.
 */
export function offsetElsewhere(partition: number, offset: number): number {
  return offset < 0 ? offset : LOWEST + offset * PARTITIONS_MAX + partition;
}

const LOWEST = Number.MIN_SAFE_INTEGER;
const PARTITIONS_MAX = 16_384;

/** Place of an input record; `place` is that of its series. */
export function inputAt({ topic, partition }: InputPlace, offset: number): InputPlace & { readonly offset: number } {
  if (offset >= -1) return { topic, partition, offset };
  const code = offset - LOWEST;
  return { topic, partition: code % PARTITIONS_MAX, offset: Math.floor(code / PARTITIONS_MAX) };
}
