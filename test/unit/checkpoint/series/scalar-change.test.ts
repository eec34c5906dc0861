import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueOfFormat } from '../../../../src/checkpoint/series/scalar-change.ts';
import {
  isChangeOf,
  readDetectorChange,
  readDetectorState,
  writeDetectorChange,
  writeDetectorState,
} from '../../../../src/checkpoint/series/series-state.ts';
import { StateReader, StateWriter } from '../../../../src/checkpoint/state-bytes.ts';
import { RESOLUTION_STATE, STEPS_COUNTED } from '../../../../src/detection/calibration/resolution.ts';
import type { StreamDetectionSettings } from '../../../../src/detection/calibration/settings.ts';
import { SCALARS, SeriesMemory, seriesLayout } from '../../../../src/detection/memory/series-memory.ts';
import { SeriesDetector } from '../../../../src/detection/series/series-detector.ts';
import { UTC_CALENDAR } from '../../../../src/time/local-calendar.ts';
import { fc } from '../../../fixture/fast-check.ts';
import { streamSettings } from '../../../fixture/stream/stream-run.ts';

const profile = { calendar: UTC_CALENDAR, stepMs: 60_000 };
const MEMORIES: readonly Partial<StreamDetectionSettings>[] = [
  { profile },
  { alarmRate: null },
  { calibrationSize: 'all' },
];
const value = fc.oneof(
  fc.double({ noNaN: true, min: -100, max: 100 }),
  fc.constantFrom(Number.NaN, 0, -0, 1.25, 1e30, 1.7e38, 2 ** 31),
);

function bytesOf(detector: SeriesDetector): Buffer {
  const writer = new StateWriter();
  writeDetectorState(writer, detector);
  return writer.drain();
}

test('a state with its changes is the state that was changed, byte for byte, in one row a change and in more', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MEMORIES),
      fc.array(fc.array(value, { maxLength: 4 }), { maxLength: 80 }),
      (own, batches) => {
        const settings = streamSettings({
          h: 4,
          stepSize: 4,
          detectionSize: 12,
          context: 64,
          calibrationSize: 84,
          ...own,
        });
        const memory = new SeriesMemory(seriesLayout(settings));
        const detector = new SeriesDetector(memory);
        let kept = new SeriesDetector(memory);
        let written = -1;
        for (const batch of batches) {
          for (const each of batch) {
            if (detector.forecastDue) {
              detector.forecasted(detector.hasContext() ? new Float32Array(4).fill(1.5) : null, 0, 0.5);
            }
            detector.score(each, detector.positions * 60_000);
          }
          const writer = new StateWriter();
          if (isChangeOf(written, detector)) {
            writeDetectorChange(writer, detector, written);
            readDetectorChange(new StateReader(writer.drain()), kept, detector.positions);
            assert.deepEqual(bytesOf(kept), bytesOf(detector));
          } else {
            kept.release();
            kept = new SeriesDetector(memory);
            writeDetectorState(writer, detector);
            readDetectorState(new StateReader(writer.drain()), kept);
          }
          written = detector.positions;
        }
      },
    ),
  );
});

test('a series that made as many steps as an earlier format counts has made enough of them', () => {
  const steps = SCALARS.resolution + RESOLUTION_STATE.at.steps;
  assert.deepEqual([valueOfFormat(5, steps, 8), valueOfFormat(5, steps, 7)], [STEPS_COUNTED, 7]);
  assert.equal(valueOfFormat(6, steps, 8), 8);
  assert.equal(valueOfFormat(5, steps + 1, 8), 8);
});
