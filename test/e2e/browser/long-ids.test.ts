/** A thousand series with ids as Prometheus makes them: names can be distinguished, and nothing is cut or too wide. */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Page } from 'playwright-core';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { goTo, untilCount } from '../../fixture/console/page-steps.ts';
import { type RealService, startRealService } from '../../fixture/console/real-service.ts';
import { kafkaTest, whyWithoutKafka } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const SHARED =
  'cluster="eu-west-1-production-0123456789abcdef"|job="kubernetes-service-endpoints-of-the-shop"|' +
  'namespace="checkout-service-production"|prometheus="monitoring/kube-prometheus-stack-prometheus"';
const [CLUSTER, JOB, NAMESPACE, PROMETHEUS] = SHARED.split('|');

/** 283 characters that differ in two labels, in the middle. */
const IDS = Array.from({ length: 1_000 }, (_, i) => {
  const instance = `instance="10.0.${100 + (i >> 8)}.${100 + (i & 255)}:90"`;
  const pod = `pod="checkout-7d9f8b6c-${String(i).padStart(5, '0')}"`;
  return `http_request_duration_seconds_p95{${CLUSTER},${instance},${JOB},${NAMESPACE},${pod},${PROMETHEUS}}`;
});
const HIGH = 30;

let service: RealService;

before(async () => {
  if (whyWithoutKafka !== null) return;
  service = await startRealService(IDS);
  await service.feed(60);
  await service.feedSpike(...IDS.slice(0, HIGH));
  await until('the events are open', async () => (await service.stream.events()).length >= HIGH);
});
after(() => service?.stop());

/** What an engineer can read in each list: rows by their text, names by the id that they have as a title. */
const LISTS = `[...document.querySelectorAll('#content ol, #content ul, #content tbody')].map((list) => ({
  rows: [...list.children].filter(({ ariaHidden }) => ariaHidden !== 'true').map(({ innerText }) => innerText),
  names: [...list.querySelectorAll('.name[title]')].map((name) => [name.title, name.innerText]),
}))`;

/** Elements beyond the window, and such whose text is cut. */
const CUT = `[...document.querySelectorAll('#content *')].filter((element) => {
  const { right, left, width } = element.getBoundingClientRect();
  if (width <= 1 || element.closest('svg, .sr, .chart, select') !== null) return false;
  const { overflowX } = getComputedStyle(element);
  const isCut = overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
  return right > innerWidth + 1 || left < -1 || isCut;
}).map((element) => element.outerHTML.slice(0, 120))`;

interface ShownList {
  readonly rows: readonly string[];
  readonly names: readonly (readonly [id: string, text: string])[];
}

async function wrongOn(page: Page): Promise<string[]> {
  const lists = (await page.evaluate(LISTS)) as readonly ShownList[];
  const wrong = ((await page.evaluate(CUT)) as string[]).map((element) => `too wide: ${element}`);
  for (const { rows, names } of lists) {
    for (const [text, same] of Map.groupBy(rows, (row) => row)) {
      if (same.length > 1) wrong.push(`${same.length} rows read ${JSON.stringify(text)}`);
    }
    for (const [text, same] of Map.groupBy(names, ([, name]) => name)) {
      if (new Set(same.map(([id]) => id)).size > 1) wrong.push(`${same.length} names read ${text}`);
    }
  }
  return wrong;
}

for (const [width, height] of [
  [390, 844],
  [1_280, 860],
] as const) {
  kafkaTest(`1,000 ids of 283 characters: all rows differ, and nothing is wider than ${width} pixels`, async () => {
    assert.equal(
      IDS.every(({ length }) => length === 283),
      true,
      `${IDS[0].length}`,
    );
    const viewport = { width, height };
    const { page, troubles } = await openSignedIn(service.url, { key: service.key, viewport });
    const events = await service.stream.events();
    const found: string[] = [];
    for (const [hash, selector] of [
      ['#/now', '.tile'],
      ['#/series', '.tile'],
      ['#/events', '.table tbody tr'],
      [`#/events/${events[0].eventId}`, '.facts'],
      [`#/series/${encodeURIComponent(IDS[0])}`, '.event-detail'],
      ['#/detectors', '.what-if'],
      ['#/service', '.figures'],
    ] as const) {
      await goTo(page, hash, selector);
      await page.waitForTimeout(300);
      found.push(...(await wrongOn(page)).map((text) => `${hash}: ${text}`));
      if (process.env.PICTURES !== undefined) {
        await page.screenshot({
          path: `${process.env.PICTURES}/${width}-${hash.replace(/\W+/g, '-').slice(0, 20)}.png`,
        });
      }
    }
    assert.deepEqual(found, []);
    await goTo(page, '#/now', '.line');
    await untilCount(page, '.line', HIGH);
    assert.match(await page.locator('.shared').first().textContent().then(String), /kube-prometheus-stack/);
    assert.match(await page.locator('.line .since').first().textContent().then(String), /^since .*\d\d:\d\d.*, /);
    assert.deepEqual(troubles, []);
  });
}
