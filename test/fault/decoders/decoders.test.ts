/** Bytes of anybody never end a process, nor keep it busy: all that was found, and some more. */
import { test } from 'node:test';
import { corpusOf } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { fuzzTargets } from './targets.ts';

/** Without the corpus. */
const [INPUTS, SLOW_INPUTS] = [400, 20];

for (const target of await fuzzTargets()) {
  test(`${target.name}: the corpus and changes of it are read, or refused in words`, async () => {
    const corpus = [...(await corpusOf(target.name)).values()];
    let left = corpus.length + (target.isSlow === true ? SLOW_INPUTS : INPUTS);
    fuzz({ target, corpus, seed: 1, before: () => left-- > 0 });
  });
}
