export type Frequency = never;
