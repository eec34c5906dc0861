import type { Notification } from '../message/notification.ts';
import type { HttpPoster, PostAnswer, PostRequest } from '../network/http-post.ts';
import { isAcceptance } from '../network/http-post.ts';

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

/** Statuses other than 5xx after which a repetition may help: time-out, too early, too many requests. */
const PASSING = new Set([408, 425, 429]);

interface JsonPost extends Omit<PostRequest, 'headers'>, Partial<Pick<PostRequest, 'headers'>> {
  readonly poster: HttpPoster;
}

/** Posts JSON, and classifies the answer. Only 2xx is an acceptance. */
export async function postAlert({ poster, headers = {}, ...request }: JsonPost): Promise<DeliveryOutcome> {
  return judge(await poster.post({ ...request, headers: { 'content-type': 'application/json', ...headers } }));
}

function judge(answer: PostAnswer): DeliveryOutcome {
  switch (answer.kind) {
    case 'address-refused':
      return { kind: 'refused', reason: 'address-refused', detail: answer.detail };
    case 'unreachable':
      return { kind: 'failed', detail: answer.detail, retryAfterMs: null };
    case 'answer': {
      const { status, excerpt, retryAfterMs } = answer;
      if (isAcceptance(status)) return ACCEPTED;
      const shown = excerpt.trim();
      const detail = `status ${status}${shown === '' ? '' : `: ${shown}`}`;
      if (status >= 300 && status < 400) {
        return { kind: 'refused', reason: 'refused', detail: `status ${status}: redirects are not followed` };
      }
      if (status >= 500 || PASSING.has(status)) return { kind: 'failed', detail, retryAfterMs };
      return { kind: 'refused', reason: 'refused', detail };
    }
  }
}
