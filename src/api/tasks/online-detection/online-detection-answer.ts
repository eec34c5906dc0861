import type { Static } from 'typebox';
import type { OnlineDetection } from '../../../detection/batch/batch-detector.ts';
import type { AnomalyEvent } from '../../../records/anomaly-event.ts';
import type { OnlineDetectionAnswer } from '../../wire/schema/tasks/online-detection-schema.ts';
import { flagsOf, intervalKeys, joined } from '../../wire/wire-answer.ts';
import type { OnlineDetectionQuestion } from './online-detection-question.ts';

export function onlineDetectionAnswer(question: OnlineDetectionQuestion, detections: readonly OnlineDetection[]) {
  const { tokens, series, settings, level, grade, events, startsMs } = question;
  const { detectionSize: size } = settings;
  const together = settings.thresholdMethod === 'multivariate';
  const { lo, hi } = intervalKeys(level);
  const numbers = (of: (detection: OnlineDetection) => Float64Array) => joined(detections.map(of));
  let end = 0;
  const idxs = series.sizes.flatMap((length) => {
    end += length;
    return Array.from({ length: size }, (_, k) => end - size + k);
  });
  return {
    ...tokens,
    mean: numbers(({ forecast }) => forecast),
    sizes: series.sizes.map(() => size),
    idxs: Float64Array.from(idxs),
    anomaly: flagsOf(detections.map(({ anomaly }) => anomaly)),
    anomaly_score: numbers(({ score }) => score),
    ...(together ? { accumulated_anomaly_score: numbers(({ accumulatedScore }) => accumulatedScore!) } : {}),
    ...(grade && {
      grade: numbers((detection) => detection.grade),
      severity: numbers(({ severity }) => severity),
      alarm: flagsOf(detections.map(({ alarm }) => alarm)),
    }),
    ...(events && { events: eventsOf(question, together ? detections.slice(0, 1) : detections) }),
    ...((grade || events) && { profile: startsMs !== null }),
    intervals: together ? null : { [lo]: numbers(({ lo }) => lo), [hi]: numbers(({ hi }) => hi) },
  } satisfies Static<typeof OnlineDetectionAnswer>;
}

/** @param detections one for each series, or one for all of them together */
function eventsOf(
  { series: { sizes }, settings, eventStepMs: stepMs }: OnlineDetectionQuestion,
  detections: readonly OnlineDetection[],
) {
  if (stepMs === null) return [];
  return detections.flatMap(({ events }, i) => {
    return windowEvents(events, { stepMs, windowStart: sizes[i] - settings.detectionSize });
  });
}

/** The events that reach into the scored values, from the revisions of a whole history. */
function windowEvents(
  revisions: readonly AnomalyEvent[],
  { stepMs, windowStart }: { readonly stepMs: number; readonly windowStart: number },
) {
  const newest = new Map(revisions.map((event) => [event.eventId, event]));
  const positionOf = (timeMs: number) => Math.round(timeMs / stepMs);
  return [...newest.values()].flatMap((event) => {
    const { series, kind, direction, startedAtMs, peakAtMs, endedAtMs, observations, alarms, members } = event;
    const { firstAlarmAtMs, lastAlarmAtMs, severity, grade, value, expected, summary, unusual } = event;
    const start = positionOf(startedAtMs);
    const end = start + observations - 1;
    if (endedAtMs !== null && end < windowStart) return [];
    return {
      series: series === null ? null : Number(series),
      kind,
      direction,
      open: endedAtMs === null,
      start,
      first_alarm: positionOf(firstAlarmAtMs),
      peak: positionOf(peakAtMs),
      last_alarm: positionOf(lastAlarmAtMs),
      end,
      alarms,
      severity,
      grade,
      value,
      expected,
      summary,
      unusual,
      members: members.map((member) => ({ series: Number(member.series), share: member.share })),
    };
  });
}
