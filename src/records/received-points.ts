/** Content of the body of a metric pipeline. */
export type PointsFormat = 'remote-write' | 'otlp-protobuf' | 'otlp-json' | 'line-protocol' | 'json-lines';

export interface ReceivedPoints {
  readonly format: PointsFormat;
  /** Not compressed, except Snappy. */
  readonly bytes: Buffer;
  /** null if no header names a coding. */
  readonly snappy: boolean | null;
  /** Unit of the times of line protocol. */
  readonly precision: 'ns' | 'us' | 'ms' | 's' | 'm' | 'h';
}

export type ReceiveOutcome =
  | {
      readonly kind: 'received';
      /** Points that are in Kafka now, on all in-sync replicas. */
      readonly accepted: number;
      /** Points of series that no detector watches. */
      readonly unwatched: number;
      readonly missing: number;
      /** Native histograms among them, and the points that they became. */
      readonly histograms?: { readonly count: number; readonly points: number };
      /** Points and lines that cannot be used. */
      readonly refused: number;
      /** Why, of the first of them. */
      readonly reasons: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly detail: string };

/**
 * Writes the points of a body to the input topic. Rejects with a retryable ServiceError where Kafka does not take them
 * now, or too many wait; some of them may be written then.
 */
export type ReceivePoints = (points: ReceivedPoints) => Promise<ReceiveOutcome>;
