/** The page of upgrades says which formats the present version writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STATE_FORMAT } from '../../../src/checkpoint/state-bytes.ts';
import { MIGRATIONS } from '../../../src/store/database/migrations.ts';
import { packageJson, read } from '../project.ts';

const PAGE = 'deploy/book/upgrades.md';

/** The number that a module calls so. */
function constantOf(path: string, name: string): number {
  return Number(new RegExp(`^const ${name} = (\\d+);$`, 'm').exec(read(path))?.[1]);
}

test('the page of upgrades names the formats of today', () => {
  const rows = read(PAGE)
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const { version } = packageJson() as unknown as { readonly version: string };
  // What is not released so far has a column of its own.
  const column = rows[0].includes('next') ? rows[0].indexOf('next') : rows[0].indexOf(version);
  const said = Object.fromEntries(rows.slice(1, 6).map((cells) => [cells[1].split(/[ :]/)[0], cells[column]]));
  assert.deepEqual(said, {
    state: `format ${STATE_FORMAT}`,
    store: `schema ${MIGRATIONS.length}`,
    history: `version ${constantOf('src/history/sql/tables.ts', 'VERSION')}`,
    alerts: `format ${constantOf('src/alerts/state/alert-state.ts', 'FORMAT')}`,
    incidents: `format ${constantOf('src/incidents/incident-state.ts', 'FORMAT')}`,
  });
});
