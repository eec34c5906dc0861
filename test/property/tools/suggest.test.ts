import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsDigest } from '../../../src/config/config.ts';
import { readDetectorsFile } from '../../../src/config/detectors-file.ts';
import { completedBy } from '../../../src/config/resolve.ts';
import { scoreHistory } from '../../../src/engine/commit/score-history.ts';
import { loadedDetector } from '../../../src/engine/unit/loaded-detector.ts';
import type { Forecaster } from '../../../src/forecasting/forecaster.ts';
import { canonicalId } from '../../../src/records/series/series-id.ts';
import { SeriesColumns } from '../../../src/tools/suggest/series-columns.ts';
import { suggest } from '../../../src/tools/suggest/suggestion.ts';
import { suggestionText } from '../../../src/tools/suggest/suggestion-text.ts';
import { fc } from '../../fixture/fast-check.ts';

const BEGIN = 1_767_225_600_000;

/** The last value, for any horizon. */
const lastValue: Forecaster = {
  limits: { context: 64, contextBuckets: [64], horizonMax: 128 },
  forecast({ rows, contextLength, horizon, values }) {
    const medians = new Float32Array(rows * horizon);
    for (let row = 0; row < rows; row++) {
      medians.fill(values[(row + 1) * contextLength - 1], row * horizon, (row + 1) * horizon);
    }
    return Promise.resolve(medians);
  },
};

const word = fc.constantFrom(
  'a',
  'cpu',
  'cpu.load',
  'web-1',
  'web-22',
  'db',
  'x*',
  '{b',
  ' ',
  'é\u2028',
  'err"or\n',
  '7',
  '0a1b2c3d4e',
);
const id = fc.oneof(
  word,
  fc.tuple(word, word).map((parts) => parts.join('/')),
  fc.tuple(word, fc.array(fc.tuple(fc.constantFrom('host', 'job'), word), { maxLength: 2 })).map(([name, labels]) => {
    return canonicalId(
      name,
      [...new Map(labels)].sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }),
);
const shape = fc.record({
  id,
  stepS: fc.constantFrom(15, 60, 300, 3_600, 86_400),
  count: fc.constantFrom(1, 2, 30, 120),
  kind: fc.constantFrom('noise', 'constant', 'counter', 'binary', 'sparse'),
});

test('whatever the data are, the suggested file is read without a problem, takes each series by its detector, and scores it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(shape, { selector: (one) => one.id, minLength: 1, maxLength: 12 }),
      async (series) => {
        const columns = new SeriesColumns(1_000_000);
        const history: { series: string; timestampMs: number; value: number }[] = [];
        for (const [seed, { id, stepS, count, kind }] of series.entries()) {
          for (let i = 0; i < count; i++) {
            if (kind === 'sparse' && i % 10 > 1) continue;
            const noise = Math.sin(i * 12.9898 + seed) * 4;
            const value = { noise, constant: 5, counter: i % 50, binary: i % 2, sparse: noise }[kind];
            columns.add(id, BEGIN + i * stepS * 1_000, value);
            history.push({ series: id, timestampMs: BEGIN + i * stepS * 1_000, value });
          }
        }
        const suggestion = suggest(columns);
        const { detectors, notWatched } = suggestion;
        const members = (found: readonly { family: { members: readonly { id: string }[] } }[]) =>
          found.flatMap(({ family }) => family.members.map((member) => member.id));
        assert.deepEqual([...members(detectors), ...members(notWatched)].sort(), series.map((one) => one.id).sort());
        if (detectors.length === 0) return;
        const text = suggestionText(suggestion, {
          command: 'suggest "a\nb"',
          sources: [],
          timeZone: 'UTC',
          holidays: { places: [], contradicted: [] },
        });
        const problems: string[] = [];
        const file = readDetectorsFile('suggested', text, problems);
        assert.deepEqual(problems, [], text);
        const bound = (file?.stream.detectors ?? []).map((detector) => {
          const config = completedBy({ context: 64 }, detector);
          return loadedDetector(config, { forecaster: lastValue, digest: 'last-value' }, settingsDigest(config));
        });
        const takers = new Map<string, string>();
        await scoreHistory(
          history,
          {
            source: 'test',
            detectors: bound,
            group: null,
            onScores: (scores) => scores.forEach((score) => void takers.set(String(score.series), score.detector)),
          },
          new AbortController().signal,
        );
        for (const { name, family, as } of detectors) {
          for (const { id, count } of family.members) {
            // One observation of a counter has no rate yet.
            if (as === null || count > 1)
              assert.equal(
                takers.get(id),
                name,
                `${id}
${text}`,
              );
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});
