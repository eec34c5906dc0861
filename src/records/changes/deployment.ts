import { stretchText } from '../text/stretch-text.ts';

/**
 * A deployment, or another change that people or programs report: a record of the topic of known changes. Its fields
 * are those of annotations in Grafana. Times are integer milliseconds since the epoch.
 */
export interface Deployment {
  /** A later record of the same id replaces it. */
  readonly id: string;
  readonly time: number;
  /** null without a known end. */
  readonly timeEnd: number | null;
  readonly text: string;
  /** For people; no series is selected by them. */
  readonly tags: readonly string[];
  /** It concerns series with all of these labels; all series where there is none. */
  readonly labels: Readonly<Record<string, string>>;
  /** A glob over ids, or matchers, in addition to the labels; null: it chooses nothing. */
  readonly series: string | null;
  readonly link: string | null;
}

/** `12 min after deploy web 4.2`, of what began at a time. */
export function changeText({ time, timeEnd, text }: Pick<Deployment, 'time' | 'timeEnd' | 'text'>, beganMs: number) {
  if (time > beganMs) return `${stretchText(time - beganMs)} before ${text}`;
  if (timeEnd !== null && timeEnd >= beganMs) return `during ${text}`;
  return `${stretchText(beganMs - time)} after ${text}`;
}
