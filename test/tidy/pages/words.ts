/** Words that make a reader decode a sentence. `npm run check` does not hold this, the tests do. */
import { test } from 'node:test';
import { none, sources, texts } from '../project.ts';

/** Left of each word: what a native engineer writes instead. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'report, emit, describe, distinguish': /\b(tells?|told|telling|says?|said|saying)\b/gi,
  'receive, match, exceed': /\b(hears?|heard|meets?|met)\b/gi,
  'is, has, is listed': /\b(stands?|stood)\b/gi,
  'next to, except': /\b(besides?)\b/gi,
  'alone, automatically': /\bby (itself|themselves)\b/gi,
  'again, from the start': /\banew\b/gi,
  continue: /\b(go|goes|went) on\b/gi,
  except: /\bbut for\b/gi,
  'instead of': /\bin place of\b/gi,
  'a verb or a noun of the field first': /\/\*\* (What|Whether|How|Where|Whose|Which|When)\b/g,
};

const count = (text: string) =>
  Object.values(WORDS).reduce((sum, word) => sum + Array.from(text.matchAll(word)).length, 0);

/** Sources, and pages of users and developers. */
const read = [...sources, ...[...texts].filter(([path]) => path.endsWith('.md'))];

test('no source and no page has words that readers have to decode', () => {
  none(
    read.flatMap(([path, text]) =>
      Object.entries(WORDS).flatMap(([better, word]) =>
        Array.from(text.matchAll(word), ([found]) => `${path}: ${found}. Write instead: ${better}`),
      ),
    ),
  );
});

test('names of tests have none of these words', () => {
  const tests = [...texts].filter(([path]) => path.endsWith('.test.ts') || path.startsWith('test/tidy/'));
  none(
    tests.flatMap(([path, text]) =>
      Array.from(text.matchAll(/^\s*(?:\w*[tT]est|suite)\(\s*(['`"])(.*?)\1/gm))
        .filter(([, , name]) => count(name) > 0)
        .map(([, , name]) => `${path}: ${name}`),
    ),
  );
});
