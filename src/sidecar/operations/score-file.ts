/** A CSV file of somebody's own, and the settings of the detector that scores it. */
export interface GivenFile {
  readonly name: string;
  readonly csv: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** Scores a file in a sandbox. The JSON of an answer has the shape of `BacktestAnswer`. */
export type ScoreFile = (
  file: GivenFile,
  signal: AbortSignal,
) => Promise<
  | { readonly kind: 'answer'; readonly json: Buffer }
  | { readonly kind: 'problems'; readonly problems: readonly string[] }
>;
