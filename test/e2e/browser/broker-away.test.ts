import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { goTo } from '../../fixture/console/page-steps.ts';
import { freshFolder, type Served, serve, stop } from '../../fixture/http/served.ts';
import { kafkaConnection, kafkaTest, sharedKafka } from '../../fixture/kafka/kafka.ts';
import { kafkaStream } from '../../fixture/kafka/kafka-stream.ts';
import { observationRecord } from '../../fixture/stream/stream-run.ts';
import { until } from '../../fixture/until.ts';

const KEY = 'a-key-of-the-tests-and-of-nobody-else';
const DETECTOR = '{ name: metrics, series: "*", freq: min, h: 4, detection_size: 4, context: 32 }';
const SERIES = ['cpu', 'memory'];

const steps = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) =>
    SERIES.map((series) => ({ partition: 0, ...observationRecord(series, from + i, Math.sin(from + i)) })),
  ).flat();

const readiness = async ({ ops }: Served) =>
  (await fetch(`${ops}/readyz`)).json() as Promise<{ status: string; warnings?: string[] }>;

/** What `/readyz` says follows what the page says. */
const warned = (served: Served, warning: RegExp | null) =>
  until(`it is ready, with the warning ${warning}`, async () => {
    const { status, warnings = [] } = await readiness(served);
    return status === 'ready' && (warning === null ? warnings.length === 0 : warning.test(warnings[0]));
  });

kafkaTest('the console is never green without knowing: broker killed and back, worker stopped', async () => {
  const broker = await sharedKafka();
  const stream = await kafkaStream(1, [DETECTOR]);
  const DATA_DIR = await freshFolder();
  const DETECTORS = join(DATA_DIR, 'detectors.yaml');
  await writeFile(DETECTORS, stream.detectors);
  const { brokers } = (await kafkaConnection()).config;
  const worker = await stream.startWorker();
  const served = await serve({
    DATA_DIR,
    DETECTORS,
    KAFKA_BROKERS: brokers.join(),
    KAFKA_GROUP_ID: stream.groupId,
    TIDEWATCH_API_KEY: KEY,
  });
  try {
    const { page } = await openSignedIn(served.url, { key: KEY });
    const headline = page.locator('h1');
    const notCurrent = page.locator('.not-current');
    await notCurrent.getByText('No series is judged yet').waitFor();
    await headline.getByText('No event is known to be open').waitFor();
    await stream.feed(steps(0, 80));
    await headline.getByText('Nothing is wrong now').waitFor();
    await page.getByText('2 series judged.').waitFor();
    await warned(served, null);

    await broker.kill();
    await notCurrent.getByText('Nothing new is read since').waitFor();
    await headline.getByText('No event is known to be open').waitFor();
    // Requests with series are answered.
    await warned(served, /^nothing new is read from Kafka since 2\d{3}-/);
    await goTo(page, '#/wall', '.wall');
    await headline.getByText('Not known').waitFor();
    await goTo(page, '#/now', '.page-head');

    await broker.restart();
    await headline.getByText('Nothing is wrong now').waitFor();
    await warned(served, null);
    await worker.stop();
    await notCurrent.getByText('Nothing is scored: no worker runs').waitFor();
  } finally {
    await stop(served);
  }
});
