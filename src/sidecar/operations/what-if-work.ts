import type { Sql } from '../../store/database/database.ts';
import { labelledReviews } from '../../store/event-reviews.ts';
import type { Work } from '../accounts/metering.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import type { WhatIfAnswer, WhatIfBody } from '../wire/schema/detectors-schema.ts';
import type { Backtests, RaisedEvents, ScoringDetector } from './backtests.ts';
import { labelsRaised } from './labels-raised.ts';
import type { Operations } from './operations.ts';
import { OBSERVATIONS_MAX, whatIfTokens } from './scoring-price.ts';
import { shownEvent } from './shown-records.ts';

/** What is tried, on which detectors; labels are in the store. */
export interface WhatIfParts {
  readonly body: WhatIfBody;
  readonly detectorsText: string;
  readonly store: Sql;
  readonly owner: string;
  /** Throws an HttpProblem 403 for a detector whose model the key may not use. */
  readonly allow: (detector: ScoringDetector) => void;
}

/** The work of a what-if: kept values of a series are scored by the settings of its detector, and by changed ones. */
export async function whatIfWork(
  { reader, detectors }: Pick<Operations, 'reader' | 'detectors'>,
  backtests: Backtests,
  { body, detectorsText, store, owner, allow }: WhatIfParts,
): Promise<Work> {
  const { series, changes } = body;
  const range = { series, fromMs: body.from ?? null, toMs: body.to ?? null, pointsMax: OBSERVATIONS_MAX };
  const kept = await reader.scores(range);
  if (kept === null) throw new HttpProblem(404, `There are no scores of series ${series}`);
  const { fromMs: from, toMs: to, columns, bucketMs } = kept;
  if (bucketMs !== null) {
    const text = `at most ${OBSERVATIONS_MAX} values are scored again: shorten the range`;
    throw invalidRequest([fieldProblem(['body', 'from'], text)]);
  }
  const described = await detectors.describe(detectorsText);
  if (described.kind === 'problems') throw refused(described.problems);
  const found = await backtests.detectorOf(described.detectors, series);
  if (found.kind === 'problems') throw refused(found.problems);
  const { detector } = found;
  allow(detector);
  const past = { series, timestamps: columns.timestamp, values: columns.value };
  const tokens = whatIfTokens(past.values.length);
  return {
    tokens,
    async run(signal) {
      const result = await backtests.whatIf({ past, detectorsText, detector, changes }, { owner, signal });
      if (result.kind === 'problems') throw refused(result.problems);
      const { observations, before, after, text } = result.scored;
      const scored = { series, detector: detector.name, from, to, observations };
      const reviews = await labelledReviews(store, { fromMs: from, toMs: to });
      const labels = labelsRaised(reviews, { series, before: before.events, after: after.events });
      return { ...scored, before: shownRaised(before), after: shownRaised(after), labels, text, ...tokens };
    },
  };
}

function refused(problems: readonly string[]): HttpProblem {
  return invalidRequest(problems.map((problem) => fieldProblem(['body', 'changes'], problem)));
}

function shownRaised({ events, alarms, alarmsPerWeek }: RaisedEvents): WhatIfAnswer['before'] {
  const shown = events.map(shownEvent).map(({ kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, ...event }) => {
    const { summary, started_at, ended_at, peak_at } = event;
    return { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, summary, started_at, ended_at, peak_at };
  });
  return { events: shown, alarms, alarms_per_week: alarmsPerWeek };
}
