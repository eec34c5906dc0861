/** Words of the console with their meanings, for those who see them for the first time. */
export const TERMS = {
  grade:
    'how unusual a value is for its own series, from 0 to 1: most series reach 0.5 once in 1,000 observations. A ' +
    'warning from 0.5, an error from 0.8, critical from 0.9',
  severity: 'how much is going on in the series; it has no upper bound, and stays high while the event goes on',
  out: 'how far the value at the peak of the event is from what was expected',
  'outside the interval': 'distance of the peak from the expected interval, in widths of that interval',
  'promised a week': 'false alarms a week that the setting false_alarms of a detector accepts of each series or group',
  'seen a week': 'events a week of each series or group in what is kept, real ones among them',
  'expected interval': 'where a value was expected to lie, by the forecast and the errors of earlier forecasts',
} as const;

export type Term = keyof typeof TERMS;
