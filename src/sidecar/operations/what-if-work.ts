import type { AnomalyEvent } from '../../record/anomaly-event.ts';
import type { Sql } from '../../store/database/database.ts';
import { labelledReviews } from '../../store/event-reviews.ts';
import type { Work } from '../accounts/metering.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../wire/problem.ts';
import type { WhatIfAnswer, WhatIfBody } from '../wire/schema/what-if-schema.ts';
import type { Backtests, RaisedEvents, ScoringDetector } from './backtests.ts';
import { labelledEvents, labelsRaised } from './labels-raised.ts';
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
  const { group } = described.detectors.find(({ name }) => name === detector.name)!;
  if (group !== null) throw refused([`${detector.name} scores groups: its groups are tried together, by a job`]);
  const past = [{ series, timestamps: columns.timestamp, values: columns.value }];
  const tokens = whatIfTokens(columns.value.length);
  return {
    tokens,
    async run(signal) {
      const question = { past, group, detectorsText, detector, alternatives: [{}, changes] };
      const result = await backtests.whatIf(question, { owner, signal });
      if (result.kind === 'problems') throw refused(result.problems);
      const { observations, alternatives } = result;
      const [before, after] = alternatives;
      const scored = { series, detector: detector.name, from, to, observations };
      const reviews = await labelledReviews(store, { fromMs: from, toMs: to });
      const labelled = labelledEvents(reviews).filter(({ event }) => event.series === series);
      const labels = labelsRaised(labelled, { before: before.events, after: after.events });
      return { ...scored, before: shownRaised(before), after: shownRaised(after), labels, text: after.text, ...tokens };
    },
  };
}

function refused(problems: readonly string[]): HttpProblem {
  return invalidRequest(problems.map((problem) => fieldProblem(['body', 'changes'], problem)));
}

function shownRaised({ events, alarms, weeks }: RaisedEvents): WhatIfAnswer['before'] {
  return { events: events.map(raisedEvent), alarms, alarms_per_week: weeks > 0 ? alarms / weeks : null };
}

function raisedEvent(event: AnomalyEvent): WhatIfAnswer['before']['events'][number] {
  const { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, ...shown } = shownEvent(event);
  const { summary, started_at, ended_at, peak_at } = shown;
  return { kind, startedAtMs, endedAtMs, peakAtMs, severity, grade, summary, started_at, ended_at, peak_at };
}
