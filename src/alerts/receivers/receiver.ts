import type { Notification } from '../message/notification.ts';

export type DeliveryOutcome =
  | { readonly kind: 'accepted' }
  /** Each address of a mail has an outcome: those in `open` may accept it later, the rest accepted or refused it. */
  | {
      readonly kind: 'partial';
      readonly open: readonly string[];
      readonly refused: readonly RefusedAddress[];
      readonly detail: string;
    }
  /** It may succeed later. */
  | { readonly kind: 'failed'; readonly detail: string; readonly retryAfterMs: number | null }
  /** A repetition does not help. */
  | { readonly kind: 'refused'; readonly reason: 'refused' | 'address-refused'; readonly detail: string };

export interface RefusedAddress {
  readonly address: string;
  readonly detail: string;
}

/** Ends soon when `signal` aborts. */
export type Send = (notification: Notification, signal: AbortSignal) => Promise<DeliveryOutcome>;

/** A channel to people or to another alerting system. */
export interface Receiver {
  /** Never rejects. */
  readonly send: Send;
  close(): void;
}

export const ACCEPTED: DeliveryOutcome = { kind: 'accepted' };
