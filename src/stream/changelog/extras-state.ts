import type { PointExtras } from '../../record/point-extras.ts';
import type { StateReader, StateWriter } from './state-bytes.ts';

const [START, DELTA, LOW] = [1, 2, 4];

export function writeExtras(writer: StateWriter, { startMs, isDelta, low }: PointExtras = {}): void {
  const start = startMs === undefined ? 0 : START;
  writer.u8(start | (isDelta === true ? DELTA : 0) | (low === undefined ? 0 : LOW));
  if (startMs !== undefined) writer.number(startMs);
  if (low !== undefined) writer.number(low);
}

export function readExtras(reader: StateReader): PointExtras | undefined {
  const flags = reader.u8();
  if (flags === 0) return undefined;
  return {
    ...((flags & START) !== 0 && { startMs: reader.number() }),
    ...((flags & DELTA) !== 0 && { isDelta: true }),
    ...((flags & LOW) !== 0 && { low: reader.number() }),
  };
}
