import { readStoredJson } from './state-bytes.ts';

/** The histories that a partition was filled from. Each is taken up once, whatever becomes of the worker. */
export const WARM_STARTS_KEY = Buffer.from('histories');

/** The oldest of more of them is forgotten. */
const SOURCES_MAX = 64;

/** JSON, which an operator can read with any Kafka tool. */
export function encodeWarmStarts(sources: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(sources.slice(-SOURCES_MAX)));
}

/** Throws ServiceError `configuration` where the value is damaged. */
export function decodeWarmStarts(value: Buffer): readonly string[] {
  return readStoredJson<readonly string[]>('histories of warm starts', value, Array.isArray);
}
