/** Measured figures: documents quote what test/bench/figures.json has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedFigures } from '../../bench/figures.ts';
import { none, read, texts } from '../project.ts';

/** `97,000<!-- stream.obs_per_s -->`, `44 %<!-- stream.full_ratio * 100 -->`, `6.8 KB<!-- memory.bytes_per_series / 1000 -->` */
const QUOTE =
  /(?<written>\d[\d,]*(?:\.\d+)?)[^\d<]*<!-- (?<bench>[\w-]+)\.(?<key>[\w.]+)(?: (?<operator>[*/]) (?<by>\d+))? -->/g;

const recorded = recordedFigures();

/** Half of the last digit that is written; zeros at the end of a whole number are rounding. */
function roundingOf(written: string): number {
  const decimals = written.split('.')[1];
  if (decimals !== undefined) return 0.5 * 10 ** -decimals.length;
  const zeros = /0*$/.exec(written.replaceAll(',', ''))?.[0] ?? '';
  return 0.5 * 10 ** zeros.length;
}

function problemOf({ written, bench, key, operator, by }: Record<string, string | undefined>): string | null {
  const inside = (at: unknown, name: string) => Object(at)[name] as unknown;
  const figure = (key ?? '').split('.').reduce(inside, recorded[bench ?? '']?.figures as unknown);
  if (typeof figure !== 'number' || written === undefined) return `${bench}.${key} is no recorded figure`;
  const factor = operator === undefined ? 1 : operator === '*' ? Number(by) : 1 / Number(by);
  const [said, measured] = [Number(written.replaceAll(',', '')), figure * factor];
  const differs = Math.abs(said - measured) > roundingOf(written) * (1 + 1e-9);
  return differs ? `${written} is written, ${bench}.${key} is ${measured}` : null;
}

test('a quoted figure is the recorded one', () => {
  none(
    [...texts]
      .filter(([path]) => path.endsWith('.md'))
      .flatMap(([path, page]) =>
        [...page.matchAll(QUOTE)].flatMap(({ groups }) => {
          const problem = problemOf(groups ?? {});
          return problem === null ? [] : [`${path}: ${problem}`];
        }),
      ),
  );
});

test('every name of a figure follows a number', () => {
  none(
    [...texts].flatMap(([path, page]) =>
      path.endsWith('.md') && (page.match(/<!-- [\w-]+\.[\w.]+/g)?.length ?? 0) !== [...page.matchAll(QUOTE)].length
        ? [`${path} names a figure that stands behind no number`]
        : [],
    ),
  );
});

const ROW_KEY = /^(?<bench>[\w-]+)\.(?<key>[\w.]+)(?: (?<operator>[*/]) (?<by>\d+))?$/;
/** A name such as M4 has no figure. */
const NUMBER = /(?<![\w.])\d[\d,]*(?:\.\d+)?/g;

test('the figures of the README are the recorded ones, by the keys of readme-figures.json', () => {
  const keys = JSON.parse(read('test/tidy/pages/readme-figures.json')) as Record<string, (string | null)[]>;
  const section = /^## What is measured\n([\s\S]*?)(?:^## |$(?![\s\S]))/m.exec(read('README.md'))?.[1] ?? '';
  const rows = [...section.matchAll(/^\| (.+?) \| (.+) \|$/gm)].slice(1);
  const actual = rows.map(([, label]) => label);
  assert.deepEqual(actual, Object.keys(keys));
  none(
    rows.flatMap(([, label, cells]) => {
      const numbers = cells.match(NUMBER) ?? [];
      if (numbers.length !== keys[label].length) return [`${label}: ${numbers.length} figures, not those of its keys`];
      return keys[label].flatMap((key, at) => {
        const problem = key === null ? null : problemOf({ written: numbers[at], ...ROW_KEY.exec(key)?.groups });
        return problem === null ? [] : [`${label}: ${problem}`];
      });
    }),
  );
});
