import type { Dependency } from '../../records/dependency.ts';
import { textMatching } from '../schema/kinds.ts';
import { byName, oneOrMore, required, section } from '../schema/schema.ts';

const LABELS_MAX = 16;
const CHARACTERS_MAX = 256;
const TEXT = new RegExp(`^[^\\x00]{1,${CHARACTERS_MAX}}$`);
export const DEPENDENCIES_MAX = 1_000;
const EXPECTED = `a mapping of 1 to ${LABELS_MAX} labels`;

const labels = byName(textMatching(`text of 1 to ${CHARACTERS_MAX} characters`, TEXT), {
  pattern: TEXT,
  expected: `named by 1 to ${CHARACTERS_MAX} characters`,
  max: LABELS_MAX,
});

/** `depends_on`: series with some labels depend on those with others. */
export const dependencies = oneOrMore(
  section(
    {
      labels: required(labels, 'Labels of the series that depend: their own, or those of their detector.'),
      on: required(labels, 'Labels of the series on which they depend.'),
    },
    (fields, place): Dependency | undefined => {
      const sides = Object.entries(fields).map(([key, side]) => {
        if (side?.size === 0) place.problem(key, EXPECTED, 'an empty mapping');
        return Object.fromEntries(side ?? []);
      });
      const [dependent, on] = sides.map((side) => JSON.stringify(Object.entries(side).sort()));
      if (dependent === on && dependent !== '[]') place.problem('on', 'other labels than labels', 'the same');
      return { labels: sides[0], on: sides[1] };
    },
  ),
);
