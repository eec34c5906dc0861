/** Ways to make one value of several points of a series in one time step. */
export const AGGREGATES = ['mean', 'sum', 'min', 'max', 'last', 'count', 'p50', 'p95'] as const;

export type Aggregate = (typeof AGGREGATES)[number];

/** Readings of a counter: its increase a second, or its increase. */
export const COUNTER_READINGS = ['rate', 'increase'] as const;

export type CounterReading = (typeof COUNTER_READINGS)[number];
