import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IncidentRun } from '../../../src/incidents/incident-run.ts';
import type { Incident } from '../../../src/records/incident.ts';
import type { SingletonLog } from '../../../src/singleton/singleton-log.ts';
import { startSingletonService } from '../../../src/singleton/singleton-service.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { MemorySingletonLog } from '../../fixture/memory-singleton-log.ts';
import { until } from '../../fixture/until.ts';

const runOptions = (log: SingletonLog) => ({
  log,
  stepMs: 60_000,
  stepOf: () => 60_000,
  quietMs: 50,
  encode: (incident: Incident) => Buffer.from(JSON.stringify(incident)),
  nowMs: Date.now,
  ingested: () => {},
  written: () => {},
});

/** A service on a log, and the incidents that it has committed. */
async function service(log: MemorySingletonLog) {
  const interrupted: Error[] = [];
  const options = runOptions(log);
  const started = await startSingletonService<IncidentRun>({
    log,
    start: (signal, onConnection) => IncidentRun.start({ ...options, onConnection }, signal),
    reports: { active: () => {}, connection: () => {}, interrupted: (error) => interrupted.push(error) },
  });
  return { ...started, interrupted };
}

const committed = ({ following }: MemorySingletonLog): readonly Incident[] =>
  following.map(({ value }) => JSON.parse(value.toString()));
const types = (log: MemorySingletonLog) => committed(log).map(({ type }) => type);

test('an event opens an incident, and its end closes it', async () => {
  const log = new MemorySingletonLog();
  const { stop, run } = await service(log);
  const { opened, closed } = revisionsOf(1);
  log.write(opened);
  await until('it is opened', () => types(log).includes('opened'), { everyMs: 5 });
  assert.equal(run()?.open, 1);
  log.write(closed);
  await until('it is closed', () => types(log).includes('closed'), { everyMs: 5 });
  assert.equal(run()?.events, 0);
  await stop();
});

test('a write that fails is decided again by the next run, which continues from what was written', async () => {
  const log = new MemorySingletonLog();
  const { stop, interrupted } = await service(log);
  const [one, other] = [revisionsOf(1), revisionsOf(2)];
  log.write(one.opened);
  await until('the first one is opened', () => types(log).length === 1, { everyMs: 5 });
  log.failures = 1;
  log.write(other.opened);
  await until('the second one is opened', () => types(log).length === 2, { everyMs: 5 });
  assert.equal(interrupted.length, 1);
  const actual = committed(log).map(({ incidentId, revision }) => [incidentId, revision]);
  assert.deepEqual(actual, [
    [one.opened.eventId, 0],
    [other.opened.eventId, 0],
  ]);
  await stop();
});

test('another process continues, and the previous one writes nothing more', async () => {
  const log = new MemorySingletonLog();
  const { stop, run } = await service(log);
  const { opened } = revisionsOf(1);
  log.write(opened);
  await until('it is opened', () => types(log).length === 1, { everyMs: 5 });
  log.elect(false);
  await until('the run is over', () => run() === null, { everyMs: 5 });
  log.write(revisionsOf(2).opened);
  log.elect(true);
  await until('the other one is opened', () => types(log).length === 2, { everyMs: 5 });
  assert.equal(run()?.open, 2);
  await stop();
});

test('a run whose first write fails has ended, and decides nothing any more', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const log = new MemorySingletonLog();
  log.failures = 1;
  let asked = 0;
  const nowMs = () => ++asked;
  const run = await IncidentRun.start({ ...runOptions(log), nowMs, onConnection() {} }, new AbortController().signal);
  assert.match(String(await run.finished), /Kafka is unavailable/);
  t.mock.timers.tick(10_000);
  assert.equal(asked, 0);
});

test('a run that cannot begin leaves neither its reading nor its session open', async () => {
  const log = new MemorySingletonLog();
  const closed: string[] = [];
  const failing: SingletonLog = {
    join: (handlers) => log.join(handlers),
    openState: async () => ({ ...(await log.openState()), close: async () => void closed.push('session') }),
    readEvents: async () => ({
      get begin(): never {
        throw new Error('no place');
      },
      stop: async () => void closed.push('reading'),
    }),
  };
  const start = IncidentRun.start({ ...runOptions(failing), onConnection() {} }, new AbortController().signal);
  await assert.rejects(start, /no place/);
  assert.deepEqual(closed, ['reading', 'session']);
});
