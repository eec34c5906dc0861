import type { ServiceError } from '../../ops/service-error.ts';
import type { InputRecord } from '../batch/records.ts';
import type { DeliveredHeaders } from './input-records.ts';
import type { LeaderEpochs } from './leader-epochs.ts';

export interface FetchReport {
  readonly partition: number;
  readonly records: number;
  readonly bytes: number;
  /** Position of the next fetch, and end of the partition. Their difference is the lag. */
  readonly nextOffset: number;
  readonly endOffset: number;
}

export interface FetchHandlers {
  /** Headers that are delivered with the records; the others are omitted. */
  readonly headers?: DeliveredHeaders;
  readonly epochs: LeaderEpochs;
  onRecords(partition: number, records: readonly InputRecord[], nextOffset: number): void;
  /** The whole cluster is out of reach (`error`), or back (`null`). */
  onConnection(error: ServiceError | null): void;
  /** One partition makes no progress (`error`), or makes progress again (`null`). */
  onStalled(partition: number, error: ServiceError | null): void;
  onFatal(error: ServiceError): void;
  onFetch?(report: FetchReport): void;
  readonly onAnswer?: (seconds: number) => void;
  log?(level: 'warn' | 'error', text: string, detail: Readonly<Record<string, unknown>>): void;
}
