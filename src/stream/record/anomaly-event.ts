import type { AnomalyEvent } from '../../detector/event/event.ts';
import type { FieldKind } from './field-kind.ts';

/** Every field of an event in the order it is written. A test compares it with the schemas of the record. */
export const EVENT_FIELDS: Readonly<Record<keyof AnomalyEvent, FieldKind>> = {
  eventId: 'text',
  type: 'text',
  revision: 'integer',
  detector: 'text',
  series: 'text-or-null',
  group: 'text-or-null',
  kind: 'text',
  direction: 'text',
  startedAtMs: 'integer',
  peakAtMs: 'integer',
  updatedAtMs: 'integer',
  endedAtMs: 'integer-or-null',
  severity: 'number-or-null',
  grade: 'number-or-null',
  value: 'number-or-null',
  expected: 'number-or-null',
  lo: 'number-or-null',
  hi: 'number-or-null',
  alarms: 'integer',
  observations: 'integer',
  closeReason: 'text-or-null',
  summary: 'text',
  unusual: 'text-or-null',
  members: 'list',
  labels: 'map',
};
