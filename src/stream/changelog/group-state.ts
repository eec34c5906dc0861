import type { GroupDetector } from '../../detector/group-detector.ts';
import type { SeriesDetector } from '../../detector/series-detector.ts';
import type { Arrival } from '../engine/batch-outcome.ts';
import type { WatchedDetector } from '../engine/bound-detector.ts';
import type { RestartReason } from '../record/score-record.ts';
import type { Track } from './changelog-series.ts';
import { readDetectorState, writeDetectorState } from './series-state.ts';
import { GROUP_ENTRY, type StateReader, type StateWriter } from './state-bytes.ts';

/** A member that the group has been scored with. The detector at the same index of the group's detector is its own. */
export interface Member extends Track {
  readonly series: string;
  /** Newest position it was observed at. */
  newest: number;
}

/** Observations of one time step that is not scored yet, by series, in the order of arrival. */
export interface PendingStep {
  readonly position: number;
  readonly observations: Map<string, PendingObservation>;
}

export type PendingObservation = Pick<Arrival, 'timestampMs' | 'value'> & { readonly offset: number };

/** What of a group outlives its worker. */
export interface GroupState {
  readonly key: string;
  readonly watched: WatchedDetector;
  readonly detector: GroupDetector;
  /** Aligned with `detector.members`. */
  readonly members: readonly Member[];
  /** Series that were seen too late for their step, and their positions then. */
  readonly joining: Map<string, number>;
  /** By position, ascending. */
  readonly pending: PendingStep[];
  /** Time of position 0; NaN before the first observation. */
  originMs: number;
  /** Newest position of any observation. */
  newest: number;
  newestOffset: number;
  restarted: RestartReason | null;
  /** Adds a member as it was, and gives its detector, whose state is to follow. */
  resumeMember(series: string, era: number, newest: number): SeriesDetector;
}

/** The open state of a group: where it stands, its members' open windows, and the time steps that wait for members. */
export function writeGroupHead(writer: StateWriter, unit: GroupState): void {
  const { detector, members, pending } = unit;
  writer.u8(GROUP_ENTRY);
  writer.text(unit.key);
  writer.text(unit.watched.digest);
  writer.f64(unit.originMs);
  writer.f64(unit.newest);
  writer.f64(unit.newestOffset);
  writer.text(unit.restarted ?? '');
  writer.f64(detector.positions);
  writer.f64(detector.accumulation.samples);
  writer.f64(detector.accumulation.mean);
  writer.f64(detector.accumulation.deviation);
  writer.u32(members.length);
  for (const member of members) {
    writer.text(member.series);
    writer.f64(member.era);
    writer.f64(member.newest);
    writeDetectorState(writer, member.detector);
  }
  writer.u32(unit.joining.size);
  for (const [series, newest] of unit.joining) {
    writer.text(series);
    writer.f64(newest);
  }
  writer.u32(pending.length);
  for (const step of pending) writePendingStep(writer, step);
}

/** Takes up what `writeGroupHead` wrote after key and digest. */
export function readGroupHead(reader: StateReader, unit: GroupState): void {
  unit.originMs = reader.f64();
  unit.newest = reader.f64();
  unit.newestOffset = reader.f64();
  const restarted = reader.text();
  unit.restarted = restarted === '' ? null : (restarted as RestartReason);
  const positions = reader.f64();
  unit.detector.resumeAt(positions, { samples: reader.f64(), mean: reader.f64(), deviation: reader.f64() });
  for (let members = reader.u32(); members > 0; members--) {
    readDetectorState(reader, unit.resumeMember(reader.text(), reader.f64(), reader.f64()));
  }
  for (let joining = reader.u32(); joining > 0; joining--) unit.joining.set(reader.text(), reader.f64());
  for (let steps = reader.u32(); steps > 0; steps--) unit.pending.push(readPendingStep(reader));
}

function writePendingStep(writer: StateWriter, { position, observations }: PendingStep): void {
  writer.f64(position);
  writer.u32(observations.size);
  for (const [series, { timestampMs, value, offset }] of observations) {
    writer.text(series);
    writer.f64(timestampMs);
    writer.f64(value);
    writer.f64(offset);
  }
}

function readPendingStep(reader: StateReader): PendingStep {
  const position = reader.f64();
  const observations: PendingStep['observations'] = new Map();
  for (let count = reader.u32(); count > 0; count--) {
    observations.set(reader.text(), { timestampMs: reader.f64(), value: reader.f64(), offset: reader.f64() });
  }
  return { position, observations };
}
