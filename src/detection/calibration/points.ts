/** How several points of a series in one time step become one value. */
export const AGGREGATES = ['mean', 'sum', 'min', 'max', 'last', 'count', 'p50', 'p95'] as const;

export type Aggregate = (typeof AGGREGATES)[number];

/** What is watched of a counter: its increase a second, or its increase. */
export const COUNTER_READINGS = ['rate', 'increase'] as const;

export type CounterReading = (typeof COUNTER_READINGS)[number];
