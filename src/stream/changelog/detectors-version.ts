/** Which version of the detectors a partition is scored by, and from where on. */
export interface StoredVersion {
  /** 0: the detectors file of the worker. */
  readonly version: number;
  /** Digests of the detectors, by name. */
  readonly detectors: Readonly<Record<string, string>>;
  readonly firstOffset: number;
}

export const VERSION_KEY = Buffer.from('detectors');

/** JSON, which an operator can read with any Kafka tool. */
export function encodeVersion({ version, detectors, firstOffset }: StoredVersion): Buffer {
  return Buffer.from(JSON.stringify({ version, first_offset: firstOffset, detectors }));
}

export function decodeVersion(value: Buffer): StoredVersion {
  const { version, first_offset: firstOffset, detectors } = JSON.parse(value.toString());
  return { version, detectors, firstOffset };
}
