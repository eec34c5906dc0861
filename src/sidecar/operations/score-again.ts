import type { Sql } from '../../store/database.ts';
import { labelledReviews } from '../../store/event-reviews.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import type { WhatIfAnswer, WhatIfBody } from '../wire/schema/detectors-schema.ts';
import { labelsRaised } from './labels-raised.ts';
import type { Operations, RaisedAgain } from './operations.ts';
import { shownEvent } from './shown-records.ts';

/** Values that are scored again at most. */
const VALUES_MAX = 200_000;

/** What is asked, of which detectors; labels are in the store. */
export interface WhatIfQuestion {
  readonly body: WhatIfBody;
  readonly detectorsText: string;
  readonly store: Sql;
}

/** Scores the kept values of a series again, by the settings of its detector and by changed ones. */
export async function scoredAgain(
  { reader, scoreAgain }: Operations,
  { body, detectorsText, store }: WhatIfQuestion,
  signal: AbortSignal,
) {
  const range = { series: body.series, fromMs: body.from ?? null, toMs: body.to ?? null, pointsMax: VALUES_MAX };
  const kept = await reader.scores(range);
  if (kept === null) throw new HttpProblem(404, `There are no scores of series ${body.series}`);
  const { fromMs: from, toMs: to, columns, bucketMs } = kept;
  if (bucketMs !== null) {
    throw invalidRequest([
      fieldProblem(['body', 'from'], `at most ${VALUES_MAX} values are scored again: shorten the range`),
    ]);
  }
  const past = { detectorsText, series: body.series, timestamps: columns.timestamp, values: columns.value };
  const result = await scoreAgain(past, body.changes, signal);
  if (result.kind === 'problems') {
    throw invalidRequest(result.problems.map((problem) => fieldProblem(['body', 'changes'], problem)));
  }
  const { detector, observations, before, after, text } = result.scored;
  const scored = { series: body.series, detector, from, to, observations };
  const reviews = await labelledReviews(store, { fromMs: from, toMs: to });
  const raised = { series: body.series, before: before.events, after: after.events };
  const labels = labelsRaised(reviews, raised);
  return { ...scored, before: shownRaised(before), after: shownRaised(after), labels, text };
}

function shownRaised({ events, alarms, alarmsPerWeek }: RaisedAgain): WhatIfAnswer['before'] {
  const shown = events.map(shownEvent).map(({ kind, started_at, ended_at, peak_at, severity, grade, summary }) => {
    return { kind, started_at, ended_at, peak_at, severity, grade, summary };
  });
  return { events: shown, alarms, alarms_per_week: alarmsPerWeek };
}
