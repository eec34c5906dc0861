import type { DetectorsSaved } from '../wire/schema/operations/detectors-schema.ts';
import type { DescribedDetector } from './operations.ts';

/** Differences between two detectors files, by the names of the detectors. */
export function changedDetectors(
  before: readonly DescribedDetector[],
  after: readonly DescribedDetector[],
): DetectorsSaved['changes'] {
  const names = new Set([...before, ...after].map(({ name }) => name));
  return [...names].flatMap((name) => {
    const [was, is] = [before, after].map((all) => all.find((detector) => detector.name === name));
    if (was === undefined || is === undefined) {
      const shown = (detector: DescribedDetector | undefined) => detector?.series.join(', ') ?? null;
      return [{ detector: name, field: 'detector', before: shown(was), after: shown(is), starts_over: true }];
    }
    return changedFields(was, is);
  });
}

function changedFields(was: DescribedDetector, is: DescribedDetector): DetectorsSaved['changes'] {
  const [before, after] = [fieldsOf(was), fieldsOf(is)];
  const startsOver = was.digest !== is.digest || was.model !== is.model;
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((field) => {
    const [a, b] = [before.get(field) ?? null, after.get(field) ?? null];
    return a === b ? [] : [{ detector: is.name, field, before: a, after: b, starts_over: startsOver }];
  });
}

function fieldsOf({ series, group, model, settings }: DescribedDetector): Map<string, string> {
  const fields = Object.entries({ series: series.join(', '), group, model, ...settings });
  return new Map(fields.flatMap(([field, value]) => (value === null ? [] : [[field, String(value)]])));
}
