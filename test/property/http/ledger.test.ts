import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../../../src/store/database/database.ts';
import { createApiKey, grantCredits } from '../../../src/store/keys/api-keys.ts';
import {
  beginCall,
  releaseCall,
  releaseExpiredHolds,
  renewHolds,
  settleCall,
} from '../../../src/store/ledger/credits.ts';
import { fc } from '../../fixture/fast-check.ts';
import { imbalances } from '../../fixture/store/ledger.ts';
import { newKey } from '../../fixture/store/new-key.ts';
import { storeTest, type TestStore } from '../../fixture/store/stores.ts';

const PROCESSES = 4;
const LEASE_MS = 30;

/** What becomes of a call after it was admitted. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('call' as const),
    key: fc.nat(1),
    tokens: fc.integer({ min: 1, max: 40 }),
    end: fc.constantFrom('settle', 'settle', 'settle', 'release', 'crash', 'stall'),
    turns: fc.nat(4),
  }),
  fc.record({ kind: fc.constant('grant' as const), key: fc.nat(1), tokens: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
  fc.record({ kind: fc.constant('renew' as const) }),
  fc.record({ kind: fc.constant('restart' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A process of the service: a connection of its own. */
class Process {
  readonly #store: TestStore;
  readonly #clock: { nowMs: number };
  readonly #keys: readonly string[];
  readonly #name: string;
  #database: Database;
  #calls = 0;
  answered = 0;

  constructor(store: TestStore, database: Database, clock: { nowMs: number }, keys: readonly string[], name: string) {
    this.#store = store;
    this.#database = database;
    this.#clock = clock;
    this.#keys = keys;
    this.#name = name;
  }

  /** Gives the connection that it ends with. */
  async run(steps: readonly Step[]): Promise<Database> {
    for (const step of steps) {
      this.#clock.nowMs += 1;
      if (step.kind === 'restart') {
        await this.#database.close();
        this.#database = await this.#store.open();
      } else if (step.kind === 'sweep') await releaseExpiredHolds(this.#database, this.#clock.nowMs);
      else if (step.kind === 'renew') await renewHolds(this.#database, this.#name, this.#clock.nowMs + LEASE_MS);
      else if (step.kind === 'grant') {
        await grantCredits(
          this.#database,
          { id: this.#keys[step.key], tokens: step.tokens },
          { nowMs: this.#clock.nowMs, actor: 'operator' },
        );
      } else await this.#call(step);
    }
    return this.#database;
  }

  async #call({ key, tokens, end, turns }: Extract<Step, { kind: 'call' }>): Promise<void> {
    const keyId = this.#keys[key];
    const holdId = `${keyId}-${this.#name}-${this.#calls++}`;
    const database = this.#database;
    const { nowMs } = this.#clock;
    const call = {
      holdId,
      keyId,
      tokens,
      nowMs,
      holder: this.#name,
      leaseUntilMs: nowMs + LEASE_MS,
    };
    const begun = await database.transaction((sql) => beginCall(sql, call));
    if (begun.kind !== 'begun') return;
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    if (end === 'crash') return;
    if (end === 'release') return database.transaction((sql) => releaseCall(sql, call));
    // A process that pauses for longer than its lease and then continues.
    if (end === 'stall') await releaseExpiredHolds(database, nowMs + LEASE_MS);
    const settled = await database.transaction((sql) => settleCall(sql, call, { tokens, nowMs: this.#clock.nowMs }));
    if (settled === 'settled') this.answered += tokens;
  }
}

let rounds = 0;

storeTest('whatever happens at once, the ledger adds up and nothing falls below zero', async (store) => {
  const ledger = await store.open();
  let databases = await Promise.all(Array.from({ length: PROCESSES }, () => store.open()));
  const plans = fc.array(fc.array(step, { maxLength: 12 }), { minLength: PROCESSES, maxLength: PROCESSES });
  const credits = fc.tuple(fc.nat(120), fc.nat(120));
  const law = fc.asyncProperty(plans, credits, async (plans, credits) => {
    const clock = { nowMs: 1_000_000 };
    const round = ++rounds;
    const keys = credits.map((_, i) => `key-${round}-${i}`);
    for (const [i, id] of keys.entries()) await createApiKey(ledger, newKey(id, { credits: credits[i] }), 'operator');
    const processes = databases.map((database, i) => new Process(store, database, clock, keys, `p${round}-${i}`));
    databases = await Promise.all(processes.map((process, i) => process.run(plans[i])));
    assert.deepEqual(await imbalances(ledger), []);
    // Long after, what crashed processes held has come back: granted = left + answered.
    await releaseExpiredHolds(ledger, clock.nowMs + LEASE_MS * 1_000);
    assert.deepEqual(await imbalances(ledger), []);
    assert.deepEqual(await ledger.query('SELECT * FROM credit_holds'), []);
    const [{ charged }] = await ledger.query<{ charged: number }>(
      'SELECT COALESCE(SUM(charged), 0) AS charged FROM usage_minutes WHERE key_id IN ($1, $2)',
      keys,
    );
    const expected = processes.reduce((sum, { answered }) => sum + answered, 0);
    assert.equal(charged, expected);
  });
  await fc.assert(law, { numRuns: 25, endOnFailure: true });
});
