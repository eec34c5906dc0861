import type { RecordHeaders } from '../kafka/batch/records.ts';
import { readHeaders, writeHeaders } from './record-extras.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

/** The observations of a time step that is not scored yet, by series, in the order of their input offsets. */
export interface PendingStep {
  readonly position: number;
  readonly observations: Map<string, PendingObservation>;
}

export interface PendingObservation {
  readonly timestampMs: number;
  readonly value: number;
  readonly offset: number;
  readonly headers?: RecordHeaders;
}

interface NamedObservation {
  readonly series: string;
  readonly observation: PendingObservation;
}

/** An observation that was accepted since the state of its group was written. */
interface AddedObservation extends NamedObservation {
  readonly position: number;
}

export class GroupChanges {
  /** Its positions then; -1: it must be written whole. */
  written = -1;
  added: AddedObservation[] = [];

  /** Its members changed, or series that wait to become members. */
  everything(): void {
    this.written = -1;
  }

  writtenAt(positions: number): void {
    this.written = positions;
    this.added = [];
  }
}

export function writeObservation(writer: StateWriter, series: string, observation: PendingObservation): void {
  writer.text(series);
  writer.number(observation.timestampMs);
  writer.number(observation.value);
  writer.number(observation.offset);
  writeHeaders(writer, observation.headers);
}

export function readObservation(reader: StateReader): NamedObservation {
  const series = reader.text();
  const [timestampMs, value, offset] = [reader.number(), reader.number(), reader.number()];
  return { series, observation: { timestampMs, value, offset, ...readHeaders(reader) } };
}

/** Adds an observation to its time step, which is made where it is missing. */
export function keepPending(pending: PendingStep[], position: number, { series, observation }: NamedObservation): void {
  let at = pending.findIndex((step) => step.position >= position);
  if (at < 0) at = pending.length;
  if (pending[at]?.position !== position) pending.splice(at, 0, { position, observations: new Map() });
  pending[at].observations.set(series, observation);
}
