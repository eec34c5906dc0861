/** A hint of the detectors file: series with `labels` depend on those with `on`. */
export interface Dependency {
  readonly labels: Readonly<Record<string, string>>;
  readonly on: Readonly<Record<string, string>>;
}
