import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { CDPSession, Page } from 'playwright-core';
import { type ConsoleService, PAST, startConsole } from '../../fixture/console/console-service.ts';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { goTo, untilCount } from '../../fixture/console/page-steps.ts';

const SERIES = 10_000;
/** Every series once in two seconds: 5,000 observations a second. */
const SHARE = SERIES / 2;
const MEASURED_MS = 2_000;

const names = Array.from({ length: SERIES }, (_, i) => `host-${Math.floor(i / 10)}/metric-${i % 10}`);
const incidents = Array.from({ length: 40 }, (_, i) => {
  return { series: i * 97, kind: 'level_shift' as const, from: PAST - 10 - i, until: null, size: 0.5 };
});

let service: ConsoleService;
let arriving: NodeJS.Timeout;

before(async () => {
  service = await startConsole({ names, incidents });
  arriving = setInterval(() => service.operations.advance(SHARE), 1_000);
});
after(async () => {
  clearInterval(arriving);
  await service.stop();
});

async function metrics(session: CDPSession): Promise<Readonly<Record<string, number>>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Share of one core that the page takes, and its memory, while it is left alone. */
async function load(page: Page, session: CDPSession) {
  const [earlier, startedMs] = [await metrics(session), performance.now()];
  await page.waitForTimeout(MEASURED_MS);
  const later = await metrics(session);
  const core = (later.TaskDuration - earlier.TaskDuration) / ((performance.now() - startedMs) / 1_000);
  await session.send('HeapProfiler.collectGarbage');
  return { core, heapMb: (await metrics(session)).JSHeapUsedSize / 2 ** 20 };
}

/** Memory of the process that holds the page, shared parts by their share. */
async function processMb(page: Page): Promise<number> {
  const browser = await page.context().browser()!.newBrowserCDPSession();
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  const renderers = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
  const sizes = await Promise.all(renderers.map((id) => readFile(`/proc/${id}/smaps_rollup`, 'utf8')));
  return Math.max(...sizes.map((text) => Number(/^Pss: +(\d+)/m.exec(text)?.[1]) / 1_024));
}

/** In the page, from an action until the next frame is shown: without what the test adds. */
const framesAfter = (action: string) => `new Promise((resolve) => {
  const started = performance.now();
  ${action};
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)));
})`;

test('10,000 series at 5,000 observations a second: the page stays responsive', async (t) => {
  const { page, troubles } = await openSignedIn(service.url);
  await untilCount(page, '.line', incidents.length);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  for (const [hash, selector] of [
    ['#/now', '.line'],
    ['#/series/host-9%2Fmetric-7', '.u-over'],
  ] as const) {
    await goTo(page, hash, selector);
    const { core, heapMb } = await load(page, session);
    const memory = `heap ${heapMb.toFixed(1)} MiB, process ${(await processMb(page)).toFixed(0)} MiB`;
    t.diagnostic(`${hash}: ${(core * 100).toFixed(1)} % of a core, ${memory}`);
    assert.equal(Number.isFinite(core) && heapMb > 0, true);
  }
  const interactions = [
    ['to Events', 'document.querySelector(\'nav a[href="#/events"]\').click()'],
    ['to Now', 'document.querySelector(\'nav a[href="#/now"]\').click()'],
    ['acknowledge', "document.querySelector('.line button:not(.copy)').click()"],
    ['to the list of series', 'document.querySelector(\'nav a[href="#/series"]\').click()'],
  ] as const;
  for (const [name, action] of interactions) {
    const ms = Number(await page.evaluate(framesAfter(action)));
    t.diagnostic(`${name}: ${ms.toFixed(0)} ms until the next frame`);
    await page.waitForTimeout(100);
  }
  await goTo(page, '#/series/host-19%2Fmetric-4', '.u-over');
  const key = "new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true })";
  const ms = Number(await page.evaluate(framesAfter(`document.querySelector('.chart').dispatchEvent(${key})`)));
  t.diagnostic(`a key in the chart: ${ms.toFixed(0)} ms until the next frame`);
  assert.deepEqual(troubles, []);
});
