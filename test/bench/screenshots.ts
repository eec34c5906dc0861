/**
 * `npm run screenshots`: pictures of the console for the README, light and dark. They show what `npm start` shows: its
 * series, scored by a worker from a real Kafka.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { EventAnswer, EventsAnswer } from '../../src/api/wire/schema/operations/event-schema.ts';
import type { IncidentAnswer, IncidentsAnswer } from '../../src/api/wire/schema/operations/incident-schema.ts';
import { startChromium } from '../fixture/console/chromium.ts';
import { goTo, signIn } from '../fixture/console/page-steps.ts';
import { freshFolder } from '../fixture/fresh-folder.ts';
import { until } from '../fixture/until.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const PICTURES = new URL('../../src/console/screenshots/', import.meta.url);
const SIZE = { width: 1_280, height: 800 };
const BYTES_MAX = 300_000;
const KEY = 'the-key-of-the-pictures-of-the-readme';
/** A second is five minutes of event time, once the history is scored. */
const WAIT = { waitMsMax: 1_800_000, everyMs: 1_000 };
/** When the pictures are taken: so much is open, a series has moved to another level, and events belong together. */
const OPEN_MIN = 3;

interface Demo {
  readonly url: string;
  stop(): Promise<void>;
}

async function startDemo(dataDir: string): Promise<Demo> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, TIDEWATCH_API_KEY: KEY };
  const child = spawn(process.execPath, [MAIN, 'start'], {
    env: { ...env, HTTP_PORT: '0', OPS_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let out = '';
  child.stdout.on('data', (chunk) => {
    out = `${out}${chunk}`.slice(-10_000);
  });
  let url: string | undefined;
  await until(
    'the console has an address',
    () => {
      url ??= /console is at (\S+?)\/console/.exec(out)?.[1];
      return url !== undefined || child.exitCode !== null;
    },
    WAIT,
  );
  if (url === undefined) throw new Error(`the demo ended: ${out}`);
  return {
    url,
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}

interface ShownThings {
  /** A level shift with the highest severity. */
  readonly event: EventAnswer;
  /** The incident with the most events. */
  readonly incident: IncidentAnswer;
}

/** What shows in its chart, and is open. */
async function shownThings(url: string): Promise<ShownThings> {
  const headers = { authorization: `Bearer ${KEY}` };
  const read = async <T>(path: string) => (await (await fetch(`${url}${path}`, { headers })).json()) as T;
  let found: ShownThings | undefined;
  const look = async () => {
    const { events = [] } = await read<Partial<EventsAnswer>>('/v1/events?open=true');
    const { incidents = [] } = await read<Partial<IncidentsAnswer>>('/v1/incidents?single=false&open=true');
    const shifts = events.filter(({ kind, series }) => kind === 'level_shift' && series !== null);
    const event = shifts.toSorted((a, b) => (b.severity ?? 0) - (a.severity ?? 0))[0];
    const incident = incidents.toSorted((a, b) => b.eventCount - a.eventCount)[0];
    if (event !== undefined && incident !== undefined) found = { event, incident };
    return events.length >= OPEN_MIN && found !== undefined;
  };
  const isThere = () => look().catch(() => false);
  await until(`${OPEN_MIN} events are open, a level shift and an incident among them`, isThere, WAIT);
  return found as ShownThings;
}

async function takePictures(browser: Browser, url: string, { event, incident }: ShownThings): Promise<void> {
  const series = event.series ?? '';
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport: SIZE });
  const page = await context.newPage();
  await page.goto(`${url}/console`);
  await signIn(page, KEY);
  await page.waitForSelector('.rail');
  await goTo(page, '#/now', '.line.incident');
  await takePicture(page, 'now');
  await goTo(page, `#/incidents/${incident.incidentId}`, '.onset');
  await takePicture(page, 'incident');
  await goTo(page, `#/events/${event.eventId}`, '.event-detail');
  await takePicture(page, 'event');
  await goTo(page, `#/series/${encodeURIComponent(series)}?event=${event.eventId}`, '.event-detail');
  await takePicture(page, 'series');
  await goTo(page, '#/events', '.table');
  await takePicture(page, 'events');
  await goTo(page, `#/detectors/${event.detector}`, '.what-if');
  await tryOtherSettings(page, series);
  await takePicture(page, 'detectors');
}

async function tryOtherSettings(page: Page, series: string): Promise<void> {
  await page.getByLabel('Series', { exact: true }).fill(series);
  await page.getByLabel('False alarms').fill('1/week');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.getByText('As it would be').waitFor({ timeout: WAIT.waitMsMax });
}

/** One moment in both themes. */
async function takePicture(page: Page, name: string): Promise<void> {
  await page.mouse.move(SIZE.width - 1, SIZE.height - 1);
  await page.waitForTimeout(3_000);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(300);
    const picture = await page.screenshot();
    const file = `${name}-${colorScheme}.png`;
    if (picture.length > BYTES_MAX) throw new Error(`${file} has ${picture.length} bytes`);
    await writeFile(new URL(file, PICTURES), picture);
    console.log(`${file} ${Math.round(picture.length / 1_000)} KB`);
  }
}

const folder = freshFolder();
const demo = await startDemo(folder);
try {
  const shown = await shownThings(demo.url);
  const browser = await startChromium();
  await takePictures(browser, demo.url, shown);
  await browser.close();
} finally {
  await demo.stop();
}
