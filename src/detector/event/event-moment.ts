/** A row of an event. */
export interface EventMoment {
  readonly position: number;
  readonly timestampMs: number;
}

/** The row behind this one. */
export function behind({ position, timestampMs }: EventMoment, stepMs: number): EventMoment {
  return { position: position + 1, timestampMs: timestampMs + stepMs };
}
