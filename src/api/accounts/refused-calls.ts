import type { Logger } from '../../ops/logger.ts';
import type { Sql } from '../../store/database/database.ts';
import type { ApiKey } from '../../store/keys/api-keys.ts';
import { addUsage, MINUTE_MS, minuteOf } from '../../store/ledger/usage.ts';
import { type HttpProblem, tooManyCalls } from '../wire/problem.ts';
import { rateLimitHeaders } from './rate-limit.ts';

interface RefusedCallsParts {
  readonly sql: Sql;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

/**
 * Counts refused calls towards the calls a minute of their keys: invalid requests and refusals cost work, too. A key
 * that has used up its minute is refused before its body is read.
 */
export class RefusedCalls {
  readonly #parts: RefusedCallsParts;
  /** The minute that a key has used up. */
  readonly #usedUp = new Map<string, number>();

  constructor(parts: RefusedCallsParts) {
    this.#parts = parts;
  }

  /** The answer to a call in a minute that is used up; null for others. */
  refusal({ id, callsPerMinute }: ApiKey): HttpProblem | null {
    const nowMs = this.#parts.nowMs();
    const minute = this.#usedUp.get(id);
    if (minute === undefined || callsPerMinute === null) return null;
    if (minute !== minuteOf(nowMs)) {
      this.#usedUp.delete(id);
      return null;
    }
    return minuteUsedUp(callsPerMinute, minute + MINUTE_MS - nowMs);
  }

  /** Counts a call that was refused. Never rejects: an error is logged. */
  async count({ id: keyId, callsPerMinute }: ApiKey): Promise<void> {
    if (callsPerMinute === null) return;
    const { sql, nowMs: clock, logger } = this.#parts;
    const nowMs = clock();
    try {
      const calls = await addUsage(sql, { keyId, nowMs }, { calls: 1 });
      if (calls >= callsPerMinute) this.#usedUp.set(keyId, minuteOf(nowMs));
    } catch (error) {
      logger.warn({ err: error, keyId }, 'a refused call could not be counted');
    }
  }
}

/** The answer to a call beyond the calls a minute of its key. */
export function minuteUsedUp(callsMax: number, resetMs: number): HttpProblem {
  const headers = rateLimitHeaders({ minute: { callsMax, callsLeft: 0, resetMs }, credits: null });
  return tooManyCalls(`This key may make ${callsMax} calls a minute`, resetMs, headers);
}
