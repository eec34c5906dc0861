import type { Sql } from '../../../../store/database/database.ts';
import { findAnswer, keepAnswer } from '../../../../store/jobs/idempotent-answers.ts';
import type { Idempotency } from '../../../../store/jobs/jobs.ts';
import type { CallEffect, Work } from '../../../accounts/metering.ts';
import { otherRequest } from '../../../wire/problem.ts';
import { stillRunning } from '../../exchange/idempotency.ts';

interface Repetition {
  readonly store: Sql;
  readonly owner: string;
  readonly idempotency: Idempotency | null;
  readonly nowMs: () => number;
}

/** Requests with an `Idempotency-Key` that run in this process, by owner and key. */
const running = new Set<string>();

const nameOf = (owner: string, { key }: Idempotency) => JSON.stringify([owner, key]);

/**
 * Answers a request with the kept answer of its key, or for the first time. Throws an HttpProblem: 409 while the first
 * one runs in this process, 422 for another request of the key.
 */
export async function oncePerKey<T>(
  { store, owner, idempotency }: Repetition,
  known: (answer: object) => T,
  first: () => Promise<T>,
): Promise<T> {
  if (idempotency === null) return first();
  const name = nameOf(owner, idempotency);
  if (running.has(name)) throw stillRunning();
  running.add(name);
  try {
    const kept = await findAnswer(store, owner, idempotency);
    if (kept === null) return await first();
    if (!kept.same) throw otherRequest();
    return known(kept.answer);
  } finally {
    running.delete(name);
  }
}

/** The work with its answer kept under the key, in the transaction of its effect. */
export function keepingAnswer(work: Work & { readonly effect: CallEffect }, repetition: Repetition): Work {
  const { owner, idempotency, nowMs } = repetition;
  if (idempotency === null) return work;
  let answer: object = {};
  return {
    ...work,
    async run(signal) {
      answer = await work.run(signal);
      return answer;
    },
    effect: {
      async commit(sql) {
        // Another replica was faster: its answer is that of the repeated request.
        if (!(await keepAnswer(sql, idempotency, { owner, answer, nowMs: nowMs() }))) throw stillRunning();
        await work.effect.commit(sql);
      },
      discard: () => work.effect.discard(),
    },
  };
}
