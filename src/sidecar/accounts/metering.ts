import { randomUUID } from 'node:crypto';
import { isUnlimited } from '../../store/api-keys.ts';
import {
  type AdmittedCall,
  beginCall,
  type CallBegin,
  type CallRequest,
  endCall,
  releaseExpiredHolds,
  renewHolds,
} from '../../store/credits.ts';
import type { Database, Sql } from '../../store/database.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { creditsExhausted, type HttpProblem, invalidKey, tooManyCalls } from '../wire/problem.ts';
import type { Caller } from './caller.ts';
import { type TokenCount, tokenSum } from './token-count.ts';

/** What a process held comes back to its keys so long after it fell silent. */
export const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;
/** When it is worth trying again while a key has all its calls at work. */
const BUSY_RETRY_MS = 2_000;

/** What a request asks for, checked, its price known. */
export interface Work {
  readonly tokens: TokenCount;
  /** Makes the answer. Rejects soon after the signal. */
  run(signal: AbortSignal): Promise<object>;
}

/** A call that was let in. One of the two ends it; the first counts. */
export interface Call {
  /** Charges it: from then on it is answered. Throws an HttpProblem 429 where it may not be answered any more. */
  settle(): Promise<void>;
  /** Gives back what was held: it is not answered. */
  release(): Promise<void>;
}

/** Lets calls in and charges them; says to the store that this process lives, so that it keeps what is held for them. */
export class Calls {
  readonly #database: Database;
  readonly #nowMs: () => number;
  readonly #logger: Logger;
  readonly #holder = randomUUID();
  readonly #renewing: NodeJS.Timeout;
  #trouble: string | null = null;

  constructor(database: Database, nowMs: () => number, logger: Logger) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#logger = logger;
    this.#renewing = setInterval(() => void this.renew(), RENEW_MS).unref();
  }

  /** Why the store could not be asked when it was last tried; null where it could. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** Throws an HttpProblem where the caller may not make this call now. */
  async begin(caller: Caller, tokens: TokenCount): Promise<Call> {
    const nowMs = this.#nowMs();
    const lease = { holder: this.#holder, leaseUntilMs: nowMs + LEASE_MS };
    const call = isUnlimited(caller.key)
      ? { keyId: caller.key.id, holdId: null }
      : await this.#database.transaction((sql) => admit(sql, { caller, tokens, lease: { ...lease, nowMs } }));
    const end = (charge: number | null) =>
      this.#database.transaction((sql) => endCall(sql, call, { tokens: charge, nowMs: this.#nowMs() }));
    return {
      settle: async () => {
        if ((await end(tokenSum(tokens))) === 'exhausted') throw creditsExhausted(caller.requestId);
      },
      release: async () => {
        if (call.holdId === null) return;
        await end(null).catch((error: unknown) => {
          const { requestId } = caller;
          this.#logger.warn({ err: error, requestId }, 'what a call held comes back when its lease ends');
        });
      },
    };
  }

  close(): void {
    clearInterval(this.#renewing);
  }

  /** Done every few seconds. */
  async renew(): Promise<void> {
    const nowMs = this.#nowMs();
    try {
      await this.#database.transaction((sql) => renewHolds(sql, this.#holder, nowMs + LEASE_MS));
      await releaseExpiredHolds(this.#database, nowMs);
      this.#trouble = null;
    } catch (error) {
      if (this.#trouble === null) this.#logger.error({ err: error }, 'the store cannot be asked');
      this.#trouble = (error as Error).message;
    }
  }
}

interface ChargedRequest {
  readonly calls: Calls;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** Runs the work of a request. Its tokens are held before the work, and settled before the answer is sent. */
export async function charged({ calls, caller, signal }: ChargedRequest, { tokens, run }: Work): Promise<object> {
  const call = await calls.begin(caller, tokens);
  try {
    const answer = await run(signal);
    await call.settle();
    return answer;
  } catch (error) {
    await call.release();
    throw error;
  }
}

/** A call that asks to be admitted. */
interface Admission {
  readonly caller: Caller;
  readonly tokens: TokenCount;
  readonly lease: Pick<CallRequest, 'holder' | 'leaseUntilMs' | 'nowMs'>;
}

/**
 * Holds what a call costs, where its key has limits. Throws an HttpProblem where the caller may not make it now.
 * @param sql a transaction
 */
export async function admit(sql: Sql, { caller: { key, requestId }, tokens, lease }: Admission): Promise<AdmittedCall> {
  const keyId = key.id;
  if (isUnlimited(key)) return { keyId, holdId: null };
  const holdId = randomUUID();
  const refusal = refusalOf(await beginCall(sql, { keyId, holdId, tokens: tokenSum(tokens), ...lease }), requestId);
  if (refusal !== null) throw refusal;
  return { keyId, holdId };
}

/** What is answered to a call that was not let in; null where it was. */
function refusalOf(begun: CallBegin, requestId: string): HttpProblem | null {
  switch (begun.kind) {
    case 'begun':
      return null;
    case 'unusable':
      return invalidKey(requestId);
    case 'exhausted':
      return creditsExhausted(requestId);
    case 'too-many-a-minute':
      return tooManyCalls(`This key may make ${begun.callsMax} calls a minute`, begun.retryAfterMs);
    case 'too-many-at-once':
      return tooManyCalls(`This key may make ${begun.callsMax} calls at once`, BUSY_RETRY_MS);
  }
}
