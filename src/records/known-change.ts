import { stretchText } from './stretch-text.ts';

/**
 * A deployment, or whatever else people or programs say has changed: a record of the topic of known changes, with the
 * names of annotations in Grafana. Times are integer milliseconds since the epoch.
 */
export interface KnownChange {
  /** A later record of the same id replaces it. */
  readonly id: string;
  readonly time: number;
  /** null where it took no time that is known. */
  readonly timeEnd: number | null;
  readonly text: string;
  /** For people: they choose nothing. */
  readonly tags: readonly string[];
  /** It concerns series with all of these labels; all series where there is none. */
  readonly labels: Readonly<Record<string, string>>;
  /** A glob over ids, or matchers of labels, beside the labels; null: it chooses nothing. */
  readonly series: string | null;
  readonly link: string | null;
}

/** `12 min after deploy web 4.2`, of what began at a time. */
export function changeText({ time, timeEnd, text }: Pick<KnownChange, 'time' | 'timeEnd' | 'text'>, beganMs: number) {
  if (time > beganMs) return `${stretchText(time - beganMs)} before ${text}`;
  if (timeEnd !== null && timeEnd >= beganMs) return `during ${text}`;
  return `${stretchText(beganMs - time)} after ${text}`;
}
