import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeText } from '../../../../src/records/changes/deployment.ts';

const deploy = { time: 1_000_000, timeEnd: null, text: 'deploy web 4.2' };

test('a change has its distance from the start of the event, and whether it continued', () => {
  assert.equal(changeText(deploy, 1_000_000 + 12 * 60_000), '12 min after deploy web 4.2');
  assert.equal(changeText(deploy, 1_000_000), '0 s after deploy web 4.2');
  assert.equal(changeText(deploy, 940_000), '1 min before deploy web 4.2');
  assert.equal(changeText({ ...deploy, timeEnd: 1_100_000 }, 1_050_000), 'during deploy web 4.2');
  assert.equal(changeText({ ...deploy, timeEnd: 1_100_000 }, 1_000_000 + 3 * 3_600_000), '3 h after deploy web 4.2');
});
