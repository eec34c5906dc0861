import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type OnsetWindow, stretchOf } from '../../../../src/incidents/membership/onset-stretch.ts';
import { fc } from '../../../fixture/fast-check.ts';

const WINDOW_MS = 10;

/** By definition: all windows that hold the onset are tried. */
function stretchByAll({ list, at, needed, partsMin }: OnsetWindow): readonly [number, number] | null {
  let found: [number, number] | null = null;
  for (let from = 0; from <= at; from++) {
    for (let to = at; to < list.length; to++) {
      const within = list.slice(from, to + 1);
      if (list[to].atMs - list[from].atMs > WINDOW_MS || within.length < needed) continue;
      const hosts = new Set(within.map(({ dimensions: [{ value }] }) => value));
      if (Math.min(new Set(within.map(({ series }) => series)).size, hosts.size) < partsMin) continue;
      found = found === null ? [from, to] : [Math.min(found[0], from), Math.max(found[1], to)];
    }
  }
  return found;
}

test('the stretch of an onset is what all windows with unusually many that hold it reach together', () => {
  const onset = fc.record({ atMs: fc.nat(40), part: fc.nat(5), host: fc.nat(4) });
  fc.assert(
    fc.property(fc.array(onset, { minLength: 1, maxLength: 20 }), fc.nat(19), fc.boolean(), (onsets, place, isLeft) => {
      const list = onsets
        .toSorted((a, b) => a.atMs - b.atMs)
        .map(({ atMs, part, host }) => {
          const dimensions = [{ name: 'host', value: `host-${host}` }];
          return { atMs, series: `${host}/${part}`, dimensions };
        });
      const at = place % list.length;
      const first = list.findIndex(({ atMs }) => list[at].atMs - atMs <= WINDOW_MS);
      const last = list.findLastIndex(({ atMs }) => atMs - list[at].atMs <= WINDOW_MS);
      const around = { list, first, at, last, windowMs: WINDOW_MS, needed: 4, partsMin: 3, splits: ['host'] };
      if (!isLeft) {
        assert.deepEqual(stretchOf(around, null), stretchByAll(around));
        return;
      }
      const whole = stretchOf(around, null);
      const others = stretchOf(around, at);
      if (others === null) return;
      assert.ok(whole !== null && whole[0] <= others[0] && whole[1] >= others[1], 'more never reach less');
    }),
    { numRuns: 1_000 },
  );
});
