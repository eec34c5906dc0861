/**
 * Words that make a reader decode a sentence, and how often each room still has them. A change that adds one rewrites
 * the sentence instead; a change that removes some lowers the number. `npm run check` does not hold this, the tests do.
 */
import { test } from 'node:test';
import { none, room, sources, texts } from './project.ts';

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

/** Most of them in each room, and in all pages. */
const MOST: Readonly<Record<string, number>> = {
  records: 3,
};

const count = (text: string) =>
  Object.values(WORDS).reduce((sum, word) => sum + Array.from(text.matchAll(word)).length, 0);

/** Of each room, and of the pages of users and developers. */
function counted(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const add = (name: string, text: string) => counts.set(name, (counts.get(name) ?? 0) + count(text));
  for (const [path, text] of sources) add(room(path), text);
  for (const [path, text] of texts) if (path.endsWith('.md')) add('pages', text);
  return counts;
}

test('no room has more of the words that readers have to decode', () => {
  const words = Object.keys(WORDS).join('; ');
  none(
    [...counted()].flatMap(([name, found]) => {
      const most = MOST[name] ?? 0;
      return found <= most ? [] : [`${name}: ${found} of at most ${most}. Write instead: ${words}`];
    }),
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
