import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { ask } from '../../fixture/http/ask.ts';
import { startApp } from '../../fixture/http/http-service.ts';
import { seededRandom } from '../../fixture/seeded-random.ts';

const LENGTH = 240;
const SEASON = 24;
const SERIES = 10;

const catalog = await openCatalog({ modelsDir: null });
const models = catalog.names.map((name) => catalog.get(name));
const forecasters = await Forecasters.start(models, { threads: 1 });
after(() => forecasters.close());

const random = seededRandom(7);
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const truths = Array.from({ length: SERIES }, () => {
  return Array.from({ length: LENGTH + SEASON }, (_, i) => 100 + 20 * Math.sin((2 * Math.PI * i) / SEASON) + normal());
});
const gaps = truths.map((_, i) => 84 + 12 * i);
const whole = truths.flatMap((truth): (number | null)[] => truth.slice(0, LENGTH));
const withGaps = whole.slice();
for (const [i, at] of gaps.entries()) withGaps[i * LENGTH + at] = null;
const sizes = truths.map(() => LENGTH);
const place = (series: number, at: number) => series * LENGTH + at;

const TASKS: Readonly<Record<string, object>> = {
  anomaly_detection: { level: 99 },
  online_anomaly_detection: { level: 99, h: 24, detection_size: 192 },
  cross_validation: { h: 24, n_windows: 9 },
};

for (const { name } of models) {
  const app = await startApp(forecasters.forecasterFor(name, SEASON));

  for (const [task, settings] of Object.entries(TASKS)) {
    test(`a missing value leaves the forecasts of ${task} by ${name} in phase one season away`, async () => {
      const body = { series: { y: withGaps, sizes }, freq: 'h', ...settings };
      const { body: answer, status } = await ask(app, `/v2/${task}`, body);
      assert.equal(status, 200, JSON.stringify(answer));
      const meanAt = (series: number, at: number) => {
        if (answer.mean.length === whole.length) return answer.mean[place(series, at)];
        const shown = answer.mean.length / SERIES;
        return at < LENGTH - shown ? Number.NaN : answer.mean[series * shown + at - (LENGTH - shown)];
      };
      let checked = 0;
      for (const [i, gap] of gaps.entries()) {
        for (const at of [gap - SEASON, gap + SEASON, gap + 2 * SEASON]) {
          const error = Math.abs(meanAt(i, at) - truths[i][at]);
          if (Number.isNaN(error)) continue;
          checked++;
          assert.ok(error < 6, `series ${i}, ${at - gap} behind the gap: off by ${error}`);
        }
      }
      assert.ok(checked > SERIES);
    });
  }

  test(`a missing value leaves the forecast by ${name} in phase`, async () => {
    const y = whole.slice();
    for (const i of sizes.keys()) y[place(i, LENGTH - 5 - i)] = null;
    const { body, status } = await ask(app, '/v2/forecast', { series: { y, sizes }, freq: 'h', h: SEASON });
    assert.equal(status, 200, JSON.stringify(body));
    body.mean.forEach((mean: number, i: number) => {
      const truth = truths[Math.floor(i / SEASON)][LENGTH + (i % SEASON)];
      assert.ok(Math.abs(mean - truth) < 6, `step ${i}: ${mean}, ${truth}`);
    });
  });
}
