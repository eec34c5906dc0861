import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDetectorsFile } from '../../../src/config/detectors-file.ts';
import type { Option } from '../../../src/config/options/option.ts';
import { options } from '../../../src/config/options/options.ts';
import { load, problemsOf } from '../../fixture/configuration.ts';
import { fc } from '../../fixture/fast-check.ts';

const all: readonly Option<unknown>[] = Object.values(options);
const integers = all.filter(({ kind }) => kind.expected.startsWith('an integer'));

test('text that is no number gives one sentence with the variable or the flag', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...integers),
      fc.string({ minLength: 1 }).filter((text) => !/^-?\d+$/.test(text)),
      fc.boolean(),
      ({ env, flag, kind }, got, asFlag) => {
        const settings = asFlag ? { flags: { [flag!]: got } } : { env: { [env!]: got } };
        const problems = problemsOf(load(settings));
        assert.equal(problems.length, 1);
        assert.ok(problems[0].startsWith(`${asFlag ? `--${flag}` : env} must be ${kind.expected}, got `));
      },
    ),
  );
});

test('an integer in its range is read, and one outside gives one problem', () => {
  fc.assert(
    fc.property(fc.integer({ min: -10, max: 70_000 }), (port) => {
      const result = load({ env: { OPS_PORT: String(port) } });
      if (port < 0 || port > 65_535) assert.equal(problemsOf(result).length, 1);
      else assert.equal(result.kind === 'config' && result.config.opsPort, port);
    }),
  );
});

test('several wrong variables give one sentence each', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...integers), { selector: ({ env }) => env }), (wrong) => {
      const env = Object.fromEntries(wrong.map(({ env }) => [env, 'x']));
      assert.equal(problemsOf(load({ env })).length, wrong.length);
    }),
  );
});

test('reading any environment and any flags does not throw', () => {
  const name = fc.constantFrom(...all.flatMap(({ env }) => env ?? []));
  const flag = fc.constantFrom(...all.flatMap(({ flag }) => flag ?? []));
  fc.assert(
    fc.property(fc.dictionary(name, fc.string()), fc.dictionary(flag, fc.string()), (env, flags) => {
      assert.doesNotThrow(() => load({ env, flags }));
    }),
  );
});

test('reading any detectors file does not throw, and a file that is read has no problem', () => {
  const token = fc.constantFrom(
    'detectors',
    ': ',
    '*a',
    '&a ',
    '[',
    ']',
    '{',
    '}',
    ', ',
    '\n',
    '  ',
    '- ',
    'name',
    '!!x ',
    '<<',
    '? ',
    '|',
    '24',
  );
  const tokens = fc.array(token, { maxLength: 14 }).map((parts) => parts.join(''));
  const yaml = fc.json().map((json) => `detectors: [${json}]\ninput: ${json}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), yaml, tokens), (content) => {
      const problems: string[] = [];
      readDetectorsFile('d.yaml', content, problems);
      assert.ok(problems.length > 0);
    }),
  );
});

test('lengths that obey the rules of the grid load; any others are refused', () => {
  const length = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(length, length, fc.option(length), fc.option(fc.integer({ min: 1, max: 1_500 })), (h, d, s, size) => {
      const entry = {
        name: 'a',
        series: '*',
        freq: 'h',
        h,
        detection_size: d,
        ...(s === null ? {} : { step_size: s }),
        ...(size === null ? {} : { calibration_size: size }),
      };
      const problems: string[] = [];
      readDetectorsFile('d.yaml', JSON.stringify({ detectors: [entry] }), problems);
      const obeys = h <= d && d % (s ?? h) === 0 && (size === null || size >= 6 * d);
      assert.equal(problems.length === 0, obeys, problems.join('\n'));
    }),
  );
});
