/**
 * `npm run fault -- --minutes N [--per-second N] [--seed N] [--on worker|broker|link] [--brokers N] [--kafka RELEASE]
 * [--transactions N]`, where the last one is the level of the feature `transaction.version`. Prints, as the very last
 * line, one JSON object.
 */
import { parseArgs } from 'node:util';
import { runFaults } from './fault-run.ts';
import { FAULT_PLACES } from './faults.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    'per-second': { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    on: { type: 'string' },
    brokers: { type: 'string', default: '3' },
    kafka: { type: 'string' },
    transactions: { type: 'string' },
  },
});
const on = FAULT_PLACES.find((place) => place === values.on);
if (on !== values.on) throw new Error(`--on is ${values.on}, and not one of ${FAULT_PLACES.join(', ')}`);
console.log(`seed ${values.seed}`);
const figures = await runFaults({
  minutes: Number(values.minutes),
  perSecond: Number(values['per-second']),
  seed: Number(values.seed),
  on,
  of: {
    brokers: Number(values.brokers),
    ...(values.kafka !== undefined && { release: values.kafka }),
    ...(values.transactions !== undefined && { features: { 'transaction.version': Number(values.transactions) } }),
  },
  log: console.log,
});
for (const text of [...figures.examples, ...figures.crashes]) console.log(text);
console.log(
  JSON.stringify({
    cycles: figures.cycles,
    compared: figures.compared,
    lost: figures.lost,
    twice: figures.twice,
    different: figures.different,
    overtaken: figures.overtaken,
    crashes: figures.crashes.length,
    recovery_p50_s: figures.recoveryP50,
    recovery_p99_s: figures.recoveryP99,
    broker_recovery_p99_s: figures.brokerRecoveryP99,
    leader_recovery_p99_s: figures.leaderRecoveryP99,
  }),
);
const isRight = figures.lost + figures.twice + figures.different + figures.crashes.length === 0;
process.exitCode = isRight ? 0 : 1;
