import type { GroupUnit, PendingStep } from '../group-unit.ts';
import type { RestartReason } from '../score-record.ts';
import { readDetectorState, writeDetectorState } from './series-state.ts';
import { GROUP_ENTRY, type StateReader, type StateWriter } from './state-bytes.ts';

/** The open state of a group: where it stands, its members' open windows, and the time steps that wait for members. */
export function writeGroupHead(writer: StateWriter, unit: GroupUnit): void {
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
export function readGroupHead(reader: StateReader, unit: GroupUnit): void {
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
