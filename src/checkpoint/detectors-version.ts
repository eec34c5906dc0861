import { readStoredJson } from './state-bytes.ts';

/** The version of the detectors that a partition is scored by, and its first offset. */
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

interface WrittenVersion extends Pick<StoredVersion, 'version' | 'detectors'> {
  readonly first_offset: number;
}

/** Throws ServiceError `configuration` where the value is damaged. */
export function decodeVersion(value: Buffer): StoredVersion {
  const isVersion = ({ version, detectors }: WrittenVersion) =>
    Number.isSafeInteger(version) && typeof detectors === 'object';
  const read = readStoredJson<WrittenVersion>('version of the detectors', value, isVersion);
  const { version, first_offset: firstOffset, detectors } = read;
  return { version, detectors, firstOffset };
}
