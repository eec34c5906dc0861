import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkManifest } from '../../src/model/manifest.ts';
import { manifestOf } from '../fixture/model/model-folder.ts';

const sound = manifestOf('own', Buffer.from('graph'));
const KEYS = Object.keys(sound);

/** What a text may say of a file outside of its folder. */
const escapes = fc.constantFrom('../graph', '/etc/passwd', 'a/b', './graph', '..', 'models/../../graph', '');

test('any content of any key is taken or refused by name, and nothing throws', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KEYS), fc.jsonValue(), (key, value) => {
      const reading = checkManifest({ ...sound, [key]: value });
      if (reading.kind === 'manifest') return;
      // Lengths are judged by the patch and the context beside them.
      const told = reading.problems.join('\n');
      assert.match(told, new RegExp(`\\b${key}\\b`), told);
    }),
    { numRuns: 500 },
  );
});

test('every key that is missing is told at once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }), (missing) => {
      const rest = Object.fromEntries(Object.entries(sound).filter(([key]) => !missing.includes(key)));
      const reading = checkManifest(rest);
      assert.equal(reading.kind, 'problems');
      const told = reading.kind === 'problems' ? reading.problems.join('\n') : '';
      for (const key of missing) assert.match(told, new RegExp(`^${key} must be .*, got nothing$`, 'm'));
    }),
  );
});

test('no graph lies outside of its folder', () => {
  fc.assert(
    fc.property(escapes, (graph) => {
      const reading = checkManifest({ ...sound, graph });
      assert.equal(reading.kind, 'problems');
    }),
  );
});
