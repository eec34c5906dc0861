/**
 * Records of a partition as a whole, each under a key of its own. They are JSON, which an operator can read with any
 * Kafka tool. A value that is damaged throws a ServiceError `configuration`.
 */
import { keptEvent, type OpenEvent } from '../detection/event/open/open-event.ts';
import { readStoredJson } from './state-bytes.ts';

/** The two newest event times of a partition; -Infinity before its first records. */
export interface WatermarkState {
  readonly firstMs: number;
  readonly secondMs: number;
}

/** The position of the state of a partition in its input and in event time. It is written with each commit. */
export interface StoredPosition {
  readonly nextOffset: number;
  /** The id of the input topic; null if the brokers are too old for topic ids. */
  readonly topicId: string | null;
  /** null if it is not known. */
  readonly watermark: WatermarkState | null;
}

export const POSITION_KEY = Buffer.from('position');

export function encodePosition({ nextOffset, topicId, watermark }: StoredPosition): Buffer {
  const times = watermark === null ? null : [watermark.firstMs, watermark.secondMs];
  // JSON has no -Infinity: it becomes null.
  return Buffer.from(JSON.stringify({ next_offset: nextOffset, topic_id: topicId, event_times: times }));
}

interface WrittenPosition {
  readonly next_offset: number;
  readonly topic_id: string | null;
  readonly event_times?: readonly (number | null)[] | null;
}

export function decodePosition(value: Buffer): StoredPosition {
  const isPosition = ({ next_offset: offset, event_times: times = null }: WrittenPosition) =>
    Number.isSafeInteger(offset) && (times === null || (Array.isArray(times) && times.length === 2));
  const read = readStoredJson<WrittenPosition>('position', value, isPosition);
  const { next_offset: nextOffset, topic_id: topicId, event_times: times = null } = read;
  if (times === null) return { nextOffset, topicId, watermark: null };
  const [firstMs, secondMs] = times.map((time) => time ?? Number.NEGATIVE_INFINITY);
  return { nextOffset, topicId, watermark: { firstMs, secondMs } };
}

/** The version of the detectors that a partition is scored by, and its first offset. */
export interface StoredVersion {
  /** 0: the detectors file of the worker. */
  readonly version: number;
  /** Digests of the detectors, by name. */
  readonly detectors: Readonly<Record<string, string>>;
  readonly firstOffset: number;
}

export const VERSION_KEY = Buffer.from('detectors');

export function encodeVersion({ version, detectors, firstOffset }: StoredVersion): Buffer {
  return Buffer.from(JSON.stringify({ version, first_offset: firstOffset, detectors }));
}

interface WrittenVersion extends Pick<StoredVersion, 'version' | 'detectors'> {
  readonly first_offset: number;
}

export function decodeVersion(value: Buffer): StoredVersion {
  const isVersion = ({ version, detectors }: WrittenVersion) =>
    Number.isSafeInteger(version) && typeof detectors === 'object';
  const read = readStoredJson<WrittenVersion>('version of the detectors', value, isVersion);
  const { version, first_offset: firstOffset, detectors } = read;
  return { version, detectors, firstOffset };
}

/**
 * The pauses of detectors that continue in a partition, by detector: the open event of each; null if it has none. A
 * worker of an earlier version passes over the record.
 */
export type OpenPauses = Readonly<Record<string, OpenEvent | null>>;

export const PAUSES_KEY = Buffer.from('pauses');

/** null without any: the record is deleted. */
export function encodePauses(pauses: OpenPauses): Buffer | null {
  return Object.keys(pauses).length === 0 ? null : Buffer.from(JSON.stringify(pauses));
}

export function decodePauses(value: Buffer): OpenPauses {
  const pauses = readStoredJson<OpenPauses>('pauses of detectors', value, (read) => {
    return !Array.isArray(read) && Object.values(read).every((event) => event === null || Boolean(event?.lastAlarm));
  });
  return Object.fromEntries(Object.entries(pauses).map(([detector, event]) => [detector, event && keptEvent(event)]));
}

/** The histories that a partition was filled from. Each is used once, even if the worker crashes. */
export const WARM_STARTS_KEY = Buffer.from('histories');

/** The oldest of more of them is forgotten. */
const SOURCES_MAX = 64;

export function encodeWarmStarts(sources: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(sources.slice(-SOURCES_MAX)));
}

export function decodeWarmStarts(value: Buffer): readonly string[] {
  return readStoredJson<readonly string[]>('histories of warm starts', value, Array.isArray);
}
