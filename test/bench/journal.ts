/** What the journal of the changelog costs: bytes of open states, for each unit and commit that touched it. */

import { type DetectorConfig, settingsDigest } from '../../src/config/config.ts';
import type { StreamDetectionSettings } from '../../src/detector/calibration/settings.ts';
import { Journal } from '../../src/stream/changelog/journal.ts';
import { PendingCommit } from '../../src/stream/engine/commit/pending-commit.ts';
import { PartitionState } from '../../src/stream/engine/state/partition-state.ts';
import { bindDetector } from '../../src/stream/engine/unit/bound-detector.ts';
import { TOPICS } from '../fixture/stream/stream-run.ts';
import type { Figures } from './bench.ts';
import { benchDetector, FREE_FORECASTER } from './bench-detector.ts';
import { START_MS, STEP_MS, valueAt } from './synthetic-series.ts';
import { printTable, rounded } from './table.ts';

const NO_BYTES = Buffer.alloc(0);

interface Case {
  readonly series: number;
  readonly settings: Partial<StreamDetectionSettings>;
  /** Observations of one step that share a commit. */
  readonly perCommit: number;
}

const D24 = { h: 24, stepSize: 24, detectionSize: 24, calibrationSize: 288 };
const D1000 = { h: 100, stepSize: 100, detectionSize: 1_000, calibrationSize: 6_000 };
const GROUP = { ...D24, thresholdMethod: 'multivariate' } as const;

const CASES: Readonly<Record<string, Case>> = {
  series_d24: { series: 200, settings: D24, perCommit: 200 },
  series_d1000: { series: 200, settings: D1000, perCommit: 200 },
  group_of_500: { series: 500, settings: GROUP, perCommit: 500 },
  group_of_500_spread: { series: 500, settings: GROUP, perCommit: 10 },
};

export async function run(): Promise<Figures> {
  const figures: Record<string, number> = {};
  const rows: (string | number)[][] = [];
  for (const [name, each] of Object.entries(CASES)) {
    const { bytes, touches, journalBytes } = await written(each);
    figures[`${name}_bytes`] = rounded(bytes / touches);
    rows.push([name, each.perCommit, touches, bytes / touches, journalBytes / 1e6]);
  }
  printTable('journal', ['series or group', 'observations a commit', 'commits', 'bytes of each', 'journal, MB'], rows);
  return figures;
}

/** Steps that are counted after the first windows. */
function stepsOf({ detectionSize = 1 }: Partial<StreamDetectionSettings>): { warm: number; counted: number } {
  return detectionSize > 100 ? { warm: detectionSize, counted: detectionSize } : { warm: 200, counted: 240 };
}

async function written({ series, settings, perCommit }: Case) {
  const base = benchDetector({ detectionSize: 24, alarms: true });
  const grouped = settings.thresholdMethod === 'multivariate';
  const config: DetectorConfig = {
    ...base,
    group: grouped ? 'group' : null,
    settings: { ...base.settings, ...settings },
  };
  const bound = bindDetector(config, { forecaster: FREE_FORECASTER, digest: 'bench' }, settingsDigest(config));
  const state = new PartitionState({ topic: TOPICS.observations, partition: 0 }, series);
  const journal = new Journal();
  const { warm, counted } = stepsOf(settings);
  let [offset, bytes, touches] = [0, 0, 0];
  for (let step = 0; step < warm + counted; step++) {
    for (let first = 0; first < series; first += perCommit) {
      const observations = Array.from({ length: perCommit }, (_, i) => {
        const timestampMs = START_MS + step * STEP_MS;
        const id = `plant-${first + i}`;
        const record = { partition: 0, offset: offset++, timestampMs, key: null, value: null };
        const value = Number(valueAt(first + i, step).toFixed(4));
        return { series: id, group: grouped ? 'plant' : null, timestampMs, value, record, bound };
      });
      const pending = new PendingCommit(format(state), () => 0, offset);
      await state.score(observations, pending, new AbortController().signal);
      const outputs = pending.outputs(journal, null).filter(({ key }) => key?.[0] === 'j'.charCodeAt(0));
      if (step < warm) continue;
      touches += grouped ? 1 : perCommit;
      for (const { value } of outputs) bytes += value?.length ?? 0;
    }
  }
  return { bytes, touches, journalBytes: journal.bytes };
}

function format({ place }: PartitionState) {
  const nothing = () => NO_BYTES;
  return { place, topics: TOPICS, encodeScore: nothing, encodeEvent: nothing, timestamps: 'event-time' as const };
}
