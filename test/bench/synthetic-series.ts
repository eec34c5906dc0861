import type { ProducerRecord } from '../../src/kafka/produce/bulk-producer.ts';
import { PARTITIONS } from './local-broker.ts';

export const STEP_MS = 1_000;
/** Event time of step 0. */
export const START_MS = Date.UTC(2025, 0, 1);

/** A daily sort of wave with noise, the same in every run. */
export function valueAt(series: number, step: number): number {
  const noise = (Math.imul(series * 65_537 + step, 2_654_435_761) >>> 8) / 2 ** 24 - 0.5;
  return 20 + (series % 50) + 5 * Math.sin((2 * Math.PI * (step + series)) / 24) + noise;
}

/** As a decoder makes it of bytes: a string of several parts would take more memory. */
export function seriesId(series: number): string {
  return Buffer.from(`plant-${series % 10}/sensor-${String(series).padStart(6, '0')}`).toString('latin1');
}

export function seriesOfId(id: string): number {
  return Number(id.slice(-6));
}

export function partitionOf(series: number): number {
  return series % PARTITIONS;
}

/** A JSON record of 118 bytes or so. */
export function observationRecord(series: number, step: number): ProducerRecord {
  const id = seriesId(series);
  const observation = {
    series: id,
    timestamp: START_MS + step * STEP_MS,
    value: Number(valueAt(series, step).toFixed(4)),
    unit: 'celsius',
    quality: 'good',
  };
  return { partition: partitionOf(series), key: Buffer.from(id), value: Buffer.from(JSON.stringify(observation)) };
}

export function stepOfTime(timestampMs: number): number {
  return (timestampMs - START_MS) / STEP_MS;
}
