/** Limits of known changes. What is above them is refused, over HTTP and in the topic. */
export const CHANGE_LIMITS = {
  idCharactersMax: 64,
  textCharactersMax: 1_000,
  tagsMax: 20,
  tagCharactersMax: 100,
  labelsMax: 16,
  labelCharactersMax: 256,
  seriesCharactersMax: 1_000,
  linkCharactersMax: 2_048,
} as const;

/** Changes that a process knows: those with the latest times. */
export const CHANGES_MAX = 10_000;
const DAY_MS = 86_400_000;
/** A change is forgotten so long after it was written, by processes and by Kafka. */
export const CHANGES_KEPT_MS = 90 * DAY_MS;
/** A change is listed with events that began at most so long after it. */
export const CHANGE_BEFORE_MS = 2 * 60 * 60 * 1_000;
/** Changes that are listed with one event or incident, the latest ones. */
export const CHANGES_NOTIFIED_MAX = 3;
/** Times of changes: what is written in seconds or microseconds is outside. */
export const CHANGE_TIME_MS = { min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) } as const;
