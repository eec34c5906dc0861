import assert from 'node:assert/strict';
import test from 'node:test';
import { checkManifest } from '../../../src/models/manifest.ts';
import { fc } from '../../fixture/fast-check.ts';
import { manifestOf } from '../../fixture/models/model-folder.ts';

const sound = manifestOf('own', Buffer.from('graph'));
const KEYS = Object.keys(sound);

/** Names of files outside of the folder. */
const escapes = fc.constantFrom('../graph', '/etc/passwd', 'a/b', './graph', '..', 'models/../../graph', '');

test('any content of any key is taken or refused by name, and nothing throws', () => {
  fc.assert(
    fc.property(fc.constantFrom(...KEYS), fc.jsonValue(), (key, value) => {
      const reading = checkManifest({ ...sound, [key]: value });
      if (reading.kind === 'manifest') return;
      // The checks of lengths depend on patch and context.
      const reported = reading.problems.join('\n');
      assert.match(reported, new RegExp(`\\b${key}\\b`), reported);
    }),
    { numRuns: 500 },
  );
});

test('every missing key is reported at once', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 1 }), (missing) => {
      const rest = Object.fromEntries(Object.entries(sound).filter(([key]) => !missing.includes(key)));
      const reading = checkManifest(rest);
      assert.equal(reading.kind, 'problems');
      const reported = reading.kind === 'problems' ? reading.problems.join('\n') : '';
      for (const key of missing) assert.match(reported, new RegExp(`^${key} must be .*, got nothing$`, 'm'));
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
