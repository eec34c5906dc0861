/** A row of an event. */
export interface EventMoment {
  readonly position: number;
  readonly timestampMs: number;
}

/** The row behind this one. */
export function behind({ position, timestampMs }: EventMoment, stepMs: number): EventMoment {
  return { position: position + 1, timestampMs: timestampMs + stepMs };
}

/** The reach of rows of some kind. */
export interface Reach {
  /** The row behind the last of them. */
  until: EventMoment;
  /** Rows since then that are not, RETURN_ROWS at most. */
  otherRows: number;
  /** The last alarm among them; left out by earlier versions. */
  counted?: CountedAlarm;
}

/** An alarm, and the number of alarms of the event so far. */
export interface CountedAlarm {
  readonly timestampMs: number;
  readonly alarms: number;
}
