/** `npm test`: every test file, with one broker for all that neither kill nor change it. */
import { once } from 'node:events';
import { createWriteStream, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { javaVersion } from '../src/demo/local-kafka/java-artifacts.ts';
import { startTestKafka } from './fixture/kafka/started-kafka.ts';
import failedFiles from './fixture/runner/failed-files.ts';
import slowestFiles from './fixture/runner/slowest-files.ts';

const ROOT = join(import.meta.dirname, '..');
/** Files at a time, for two cores: what computes keeps one of them busy, and services wait more than they compute. */
const CONCURRENCY = Number(process.env.TEST_CONCURRENCY ?? 4);

const COMPUTING = ['test/*.test.ts', 'test/{golden,property}/**/*.test.ts'];
const SERVICES = ['test/{e2e,fault}/**/*.test.ts'];
/** test/all-broker-faults.test.ts loads them. */
const LOADED = ['test/fault/broker/**'];

/** Files in their order, each with its place between 0 and 1 in the run. */
function placed(patterns: readonly string[]): { readonly file: string; readonly place: number }[] {
  const files = globSync(patterns, { cwd: ROOT, exclude: LOADED }).sort();
  return files.map((file, i) => ({ file: join(ROOT, file), place: i / files.length }));
}

// Both kinds beside each other all the time: one after the other, cores are idle while services are waited for.
const files = [...placed(COMPUTING), ...placed(SERVICES)].sort((a, b) => a.place - b.place);

// The tests find it in `TEST_BROKERS`. Without Java there is none, and each test of Kafka says why.
const hasJava = (await javaVersion().catch(() => null)) !== null;
const broker = hasJava ? await startTestKafka() : null;
if (broker !== null) process.env.TEST_BROKERS = broker.kafka.brokers.join();
const events = run({ files: files.map(({ file }) => file), concurrency: CONCURRENCY });
events.on('test:summary', ({ success }) => {
  if (!success) process.exitCode = 1;
});
// The runner reports a file without any test as a test that passes.
events.on('test:pass', ({ name, file }) => {
  if (name !== file) return;
  console.error(`${file} has no test`);
  process.exitCode = 1;
});
events.compose(new spec()).pipe(process.stdout);
events.compose(slowestFiles).pipe(process.stdout);
events.compose(failedFiles).pipe(createWriteStream(join(ROOT, 'node_modules/.failed-tests')));
await once(events, 'end');
await broker?.remove();
console.log(`the cores were busy for ${processorSeconds()} s in ${Math.round(performance.now() / 1_000)} s`);

/** Of all programs that have ended, the broker among them; Linux counts it in hundredths of a second. */
function processorSeconds(): number | string {
  try {
    const [, counts] = readFileSync('/proc/self/stat', 'utf8').split(') ');
    const [user, system] = counts.split(' ').slice(13, 15);
    return Math.round((Number(user) + Number(system)) / 100);
  } catch {
    return 'unknown';
  }
}
