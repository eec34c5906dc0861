/** Rules and dashboards for operators. Panels are not drawn here: what Grafana would refuse or hide is looked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertRules, dashboards, type Panel } from '../fixture/monitoring.ts';
import { none, read } from './project.ts';

const COLUMNS = 24;
const PANEL_TYPES = new Set(['timeseries', 'stat']);
const CHOSEN = /^\{"type":"prometheus","uid":"\$\{datasource\}"\}$/;
/** Two Tidewatch installations may share a Prometheus. Bands and alerts have the labels of their series instead. */
const SCOPE = 'job=~"$job",instance=~"$instance"}';
const OF_SERIES = 'tidewatch-series';
const OF_RULES = 'Firing alert rules';
const RUNBOOK = 'deploy/book/runbook.md';

test('each alert has a section of the runbook, which it names, and there are no others', () => {
  const sections = [...read(RUNBOOK).matchAll(/^## (\w+)$/gm)].map(([, section]) => section);
  const expected = alertRules().map(({ alert }) => alert);
  assert.deepEqual(sections, expected);
  for (const { alert, annotations } of alertRules()) {
    assert.equal(annotations.runbook, `${RUNBOOK}#${alert.toLowerCase()}`);
    assert.ok(annotations.summary);
  }
});

const twice = <T>(values: readonly T[]) => values.filter((value, i) => values.indexOf(value) < i);

test('dashboards have ids of their own, and panels have titles, known types and the chosen data source', () => {
  const all = dashboards();
  none(twice(all.map(({ uid }) => uid)));
  none(twice(all.map(({ title }) => title)));
  for (const { file, uid, templating, panels } of all) {
    assert.equal(file, `${uid.replace(/^tidewatch-/, '')}.json`);
    assert.deepEqual(templating.list[0], { ...templating.list[0], name: 'datasource', type: 'datasource' });
    none(twice(panels.map(({ id }) => String(id))));
    none(twice(panels.map(({ title }) => title)));
    for (const { title, description, type, datasource, targets, fieldConfig } of panels) {
      assert.ok(PANEL_TYPES.has(type), `${file}: ${title} is a ${type}`);
      assert.ok(description && fieldConfig.defaults.unit, `${file}: ${title} needs a description and a unit`);
      const isScoped = (expr: string) =>
        expr
          .split('{')
          .slice(1)
          .every((each) => each.startsWith(SCOPE));
      if (uid !== OF_SERIES && title !== OF_RULES) {
        none(targets.filter(({ expr }) => !expr.includes(SCOPE) || !isScoped(expr)).map(({ expr }) => expr));
      }
      assert.match(JSON.stringify(datasource), CHOSEN, `${file}: ${title}`);
      none(twice(targets.map(({ refId }) => refId)));
    }
    const variables = new Set(templating.list.map(({ name }) => name).concat('__rate_interval'));
    const used = JSON.stringify(panels).matchAll(/\$\{?([a-z_]+)/g);
    none([...used].map(([, name]) => `${file}: $${name}`).filter((found) => !variables.has(found.split('$')[1])));
  }
});

test('panels lie on the grid, and none lies on another', () => {
  const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel) =>
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  none(
    dashboards().flatMap(({ file, panels }) =>
      panels.flatMap((panel, i) => {
        const { x, y, w, h } = panel.gridPos;
        const inside = x >= 0 && y >= 0 && w > 0 && h > 0 && x + w <= COLUMNS;
        const below = panels.slice(0, i).find((other) => overlap(panel, other));
        return inside && below === undefined ? [] : [`${file}: ${panel.title}`];
      }),
    ),
  );
});
