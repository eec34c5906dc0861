/** Events of one page of the history. */
const EVENTS_AT_ONCE = 1_000;

export const EVENTS_OF_INCIDENT = {
  open: null,
  series: null,
  group: null,
  match: null,
  detector: null,
  kind: null,
  fromMs: null,
  toMs: null,
  limit: EVENTS_AT_ONCE,
  after: null,
} as const;
