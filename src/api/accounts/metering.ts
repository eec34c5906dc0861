import { randomUUID } from 'node:crypto';
import { runForOwner } from '../../models/request-owner.ts';
import type { Logger } from '../../ops/logger.ts';
import type { Database, Sql } from '../../store/database/database.ts';
import { isUnlimited } from '../../store/keys/api-keys.ts';
import {
  type AdmittedCall,
  beginCall,
  type CallBegin,
  type CallRequest,
  endCall,
  type KeyStanding,
  releaseExpiredHolds,
  renewHolds,
} from '../../store/ledger/credits.ts';
import { creditsExhausted, type HttpProblem, invalidKey, tooManyCalls } from '../wire/problem.ts';
import type { Caller } from './caller.ts';
import { minuteUsedUp } from './refused-calls.ts';
import { type TokenCount, tokenSum } from './token-count.ts';

/** Holds of a process expire this long after its last renewal. */
const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;
/** `Retry-After` while all concurrent calls of a key are in use. */
const BUSY_RETRY_MS = 2_000;

const UNLIMITED: KeyStanding = { minute: null, credits: null };

/** A validated request with its price. */
export interface Work<A extends object = object> {
  /** Tokens that are held before the work. */
  readonly tokens: TokenCount;
  readonly warning?: string | null;
  /** Computes the answer. Rejects soon after `signal` aborts. */
  run(signal: AbortSignal): Promise<A>;
  /** Tokens charged for an answer, at most those held; null: none. Without it, all held tokens are charged. */
  due?(answer: A): TokenCount | null;
  /** Effect that is stored in the transaction that settles the call. */
  readonly effect?: CallEffect;
}

/** Something that a call stores, when and only when it is charged. */
export interface CallEffect {
  /** @param sql the transaction that settles the call */
  commit(sql: Sql): Promise<void>;
  /** Called instead of, or after, a commit that failed. */
  discard(): Promise<void>;
}

/** An admitted call. The first of the two methods ends it. */
interface Call {
  /** Limits that its key has left. */
  readonly standing: KeyStanding;
  /**
   * Settles the call with its effect, for what was held or less. Throws an HttpProblem, 429 or 401, when it may no
   * longer be answered.
   */
  settle(effect?: CallEffect, due?: TokenCount): Promise<void>;
  /** Releases the hold of a call that is not answered. */
  release(): Promise<void>;
}

interface CallsOptions {
  readonly logger: Logger;
  readonly onSettled?: (keyId: string, tokens: number) => void;
}

/** Admits calls and settles them. Renews the holds of this process while it lives. */
export class Calls {
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #logger: Logger;
  readonly #holder = randomUUID();
  readonly #renewing: NodeJS.Timeout;
  readonly #onSettled: (keyId: string, tokens: number) => void;
  #trouble: string | null = null;

  /** @param onSettled is notified of every call that is charged */
  constructor(database: Database, nowMs: () => number, { logger, onSettled = () => {} }: CallsOptions) {
    this.#onSettled = onSettled;
    this.#database = database;
    this.#nowMs = nowMs;
    this.#logger = logger;
    this.#renewing = setInterval(() => void this.renew(), RENEW_MS).unref();
  }

  /** The error of the last renewal; null when it succeeded. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Admits a call. Throws an HttpProblem when the caller may not make it now. */
  async begin(caller: Caller, tokens: TokenCount): Promise<Call> {
    const nowMs = this.#nowMs();
    const lease = { holder: this.#holder, leaseUntilMs: nowMs + LEASE_MS };
    const call = isUnlimited(caller.key)
      ? { keyId: caller.key.id, holdId: null, standing: UNLIMITED }
      : await this.#database.transaction((sql) => admit(sql, { caller, tokens, lease: { ...lease, nowMs } }));
    const end = (charge: number | null, effect?: CallEffect) =>
      this.#database.transaction(async (sql) => {
        const ended = await endCall(sql, call, { tokens: charge, nowMs: this.#nowMs() });
        if (ended === 'settled') await effect?.commit(sql);
        return ended;
      });
    return {
      standing: call.standing,
      settle: async (effect, due = tokens) => {
        const ended = await end(tokenSum(due), effect);
        if (ended === 'exhausted') throw creditsExhausted(caller.requestId);
        if (ended === 'revoked') throw invalidKey(caller.requestId);
        this.#onSettled(caller.key.id, tokenSum(due));
      },
      release: async () => {
        if (call.holdId === null) return;
        await end(null).catch((error: unknown) => {
          const { requestId } = caller;
          this.#logger.warn({ err: error, requestId }, 'a hold could not be released; it expires with its lease');
        });
      },
    };
  }

  close(): void {
    clearInterval(this.#renewing);
  }

  /** Renews the holds of this process and releases expired ones. Runs every few seconds. */
  async renew(): Promise<void> {
    const nowMs = this.#nowMs();
    try {
      await this.#database.transaction((sql) => renewHolds(sql, this.#holder, nowMs + LEASE_MS));
      await releaseExpiredHolds(this.#database, nowMs);
      this.#trouble = null;
    } catch (error) {
      if (this.#trouble === null) this.#logger.error({ err: error }, 'the store is unavailable');
      this.#trouble = (error as Error).message;
    }
  }
}

interface ChargedRequest {
  readonly calls: Calls;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Receives what the key has left, once the call is admitted. */
  readonly onAdmitted?: (standing: KeyStanding) => void;
}

/** Runs the work of a request. Its tokens are held before the work, and settled before the answer is sent. */
export async function charged<A extends object>(
  { calls, caller, signal, onAdmitted }: ChargedRequest,
  { tokens, run, due, effect }: Work<A>,
): Promise<A> {
  const call = await calls.begin(caller, tokens);
  onAdmitted?.(call.standing);
  try {
    const answer = await runForOwner(caller.key.owner, () => run(signal));
    const charge = due === undefined ? tokens : due(answer);
    if (charge === null) await call.release();
    else await call.settle(effect, charge);
    return answer;
  } catch (error) {
    await call.release();
    await effect?.discard();
    throw error;
  }
}

interface Admission {
  readonly caller: Caller;
  readonly tokens: TokenCount;
  readonly lease: Pick<CallRequest, 'holder' | 'leaseUntilMs' | 'nowMs'>;
}

/**
 * Places a hold where the key has limits. Throws an HttpProblem when the call is refused.
 * @param sql a transaction
 */
export async function admit(
  sql: Sql,
  { caller: { key, requestId }, tokens, lease }: Admission,
): Promise<AdmittedCall & { readonly standing: KeyStanding }> {
  const keyId = key.id;
  if (isUnlimited(key)) return { keyId, holdId: null, standing: UNLIMITED };
  const holdId = randomUUID();
  const begun = await beginCall(sql, { keyId, holdId, tokens: tokenSum(tokens), ...lease });
  if (begun.kind !== 'begun') throw refusalOf(begun, requestId);
  return { keyId, holdId, standing: begun.standing };
}

function refusalOf(begun: Exclude<CallBegin, { readonly kind: 'begun' }>, requestId: string): HttpProblem {
  switch (begun.kind) {
    case 'unusable':
      return invalidKey(requestId);
    case 'exhausted':
      return creditsExhausted(requestId);
    case 'too-many-a-minute':
      return minuteUsedUp(begun.callsMax, begun.retryAfterMs);
    case 'too-many-at-once':
      return tooManyCalls(`This key may make ${begun.callsMax} calls at once`, BUSY_RETRY_MS);
  }
}
