import { globPattern, type TextPattern } from '../../config/glob.ts';
import { numberBelow, oneOf, text } from '../../config/kinds.ts';
import type { Section } from '../../config/yaml-section.ts';
import { EVENT_DIRECTIONS, EVENT_KINDS } from '../../record/anomaly-event.ts';
import type { EventMatch } from './alert-route.ts';

const severity = numberBelow(0, 1e9);
const grade = numberBelow(0, 1);

/** Reads `match` of a route. Without a key every event matches. */
export function readMatch(section: Section): EventMatch {
  const globs = (key: string) => {
    const written = section.readList(key, text);
    return written === undefined ? null : globPattern(written);
  };
  const match = {
    detector: globs('detector'),
    series: globs('series'),
    kinds: section.readList('kind', oneOf(...EVENT_KINDS)) ?? null,
    directions: section.readList('direction', oneOf(...EVENT_DIRECTIONS)) ?? null,
    severityMin: section.read('severity_min', severity) ?? null,
    gradeMin: section.read('grade_min', grade) ?? null,
    labels: readLabels(section.section('labels')),
  };
  section.close();
  return match;
}

function readLabels(section: Section): ReadonlyMap<string, TextPattern> {
  const labels = new Map<string, TextPattern>();
  for (const name of section.keys()) {
    const written = section.readList(name, text);
    if (written !== undefined) labels.set(name, globPattern(written));
  }
  return labels;
}
