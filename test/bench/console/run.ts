/**
 * Times of the console at 10,000 series and 5,000 scores a second, in a browser over the application and its history:
 * from a key in the search until its list is shown, from asking for a million scores until they are drawn, from a press
 * until the next frame, and how long frames take meanwhile.
 */
import type { Page } from 'playwright-core';
import { startChromium } from '../../fixture/console/chromium.ts';
import { goTo, signIn } from '../../fixture/console/page-steps.ts';
import { KEY } from '../../fixture/http/http-service.ts';
import type { Figures } from '../bench.ts';
import { printTable, rounded } from '../table.ts';
import { LONG_SCORES, LONG_SERIES, OPEN_EVENTS, SERIES, SERIES_NAMES, startKeptFleet } from './kept-fleet.ts';

/** What is typed, key by key. With each key of these other series are found. */
const TYPED = ['111', '77"', '3{', '999', '40', '584', '123', '9{'];
const DRAWINGS = 20;
const PRESSES = 10;
/** Frames are watched for so long on each page. */
const FRAMES_MS = 10_000;
/** Between two measurements: what the one before began has ended. */
const PAUSE_MS = 400;

/** Measurements within the page: the policy of the page refuses what playwright would evaluate for it. */
const IN_PAGE = `
const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
globalThis.measured = {
  async typed(text, found) {
    const input = document.querySelector('#search');
    const shows = () => {
      const names = [...document.querySelectorAll('.tile .name')].map(({ textContent }) => textContent);
      const count = document.querySelector('.page-head .aside').textContent.trim();
      return count === found + ' series' && names.every((name) => name.includes(text));
    };
    const started = performance.now();
    input.value = text;
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
    while (!shows()) await frame();
    return performance.now() - started;
  },
  async drawn(label) {
    const button = [...document.querySelectorAll('.toolbar button')].find((each) => each.textContent.trim() === label);
    performance.clearResourceTimings();
    const before = document.querySelector('.chart').ariaLabel;
    button.click();
    const asked = () => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/scores?'));
    while (asked().length === 0 || document.querySelector('.chart').ariaLabel === before) await frame();
    await frame();
    return performance.now() - asked()[0].startTime;
  },
  async pressed(selector) {
    const started = performance.now();
    document.querySelector(selector).click();
    await frame();
    return performance.now() - started;
  },
  async key(name) {
    const started = performance.now();
    document.querySelector('.chart').dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
    await frame();
    return performance.now() - started;
  },
  async frames(forMs) {
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (const end = last + forMs; last < end; ) {
      const next = await new Promise(requestAnimationFrame);
      times.push(next - last);
      last = next;
    }
    return times;
  },
};`;

type Measured = readonly number[];

export async function run(): Promise<Figures> {
  const service = await startKeptFleet();
  const browser = await startChromium();
  try {
    const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1_280, height: 860 } });
    const page = await context.newPage();
    await page.goto(`${service.url}/console`);
    await signIn(page, KEY);
    await page.waitForSelector('.line');
    await page.evaluate(IN_PAGE);
    const now = await framesOf(page);
    const presses = await pressTimes(page);
    await goTo(page, '#/series', '.tile');
    const list = await framesOf(page);
    const search = await searchTimes(page);
    const drawn = await drawTimes(page);
    const chart = await framesOf(page);
    const all = { search, drawn, presses, now_frames: now, list_frames: list, chart_frames: chart };
    const rows = Object.entries(all).map(([name, times]) => ({ name, ...quantiles(times) }));
    printTable(
      `console at ${SERIES} series, ${OPEN_EVENTS} open events, a series of ${LONG_SCORES} scores; ms`,
      ['figure', 'p50', 'p99', 'most'],
      rows.map(({ name, p50, p99, most }) => [name, p50, p99, most]),
    );
    const figures = rows.flatMap(({ name, p50, p99 }) => [
      [`${name}_p50_ms`, p50],
      [`${name}_p99_ms`, p99],
    ]);
    return { series: SERIES, scores: LONG_SCORES, ...Object.fromEntries(figures) };
  } finally {
    await browser.close();
    await service.stop();
  }
}

const framesOf = (page: Page) => measure<Measured>(page, `frames(${FRAMES_MS})`);

function measure<T>(page: Page, call: string): Promise<T> {
  return page.evaluate(`measured.${call}`) as Promise<T>;
}

/** From a key until every tile that is shown has the text that was typed. */
async function searchTimes(page: Page): Promise<Measured> {
  const times: number[] = [];
  for (const text of TYPED) {
    for (let length = 1; length <= text.length; length++) {
      const typed = text.slice(0, length);
      const found = SERIES_NAMES.filter((name) => name.includes(typed)).length.toLocaleString('en-US');
      times.push(await measure<number>(page, `typed(${JSON.stringify(typed)}, ${JSON.stringify(found)})`));
    }
    await page.fill('#search', '');
    await page.waitForTimeout(PAUSE_MS);
  }
  return times;
}

/** From the request for all scores of the long series until the chart shows them. */
async function drawTimes(page: Page): Promise<Measured> {
  await goTo(page, `#/series/${encodeURIComponent(LONG_SERIES)}`, '.u-over');
  const times: number[] = [];
  for (let i = 0; i < DRAWINGS; i++) {
    await page.waitForTimeout(PAUSE_MS);
    times.push(await measure<number>(page, "drawn('all')"));
    await page.waitForTimeout(PAUSE_MS);
    await measure<number>(page, "drawn('1 h')");
  }
  return times;
}

/** From a press until the next frame is shown. */
async function pressTimes(page: Page): Promise<Measured> {
  const times: number[] = [];
  const press = async (call: string) => {
    times.push(await measure<number>(page, call));
    await page.waitForTimeout(PAUSE_MS);
  };
  for (let i = 0; i < PRESSES; i++) {
    for (const name of ['events', 'now', 'series']) await press(`pressed('nav a[href="#/${name}"]')`);
    await goTo(page, '#/now', '.line');
    await press("pressed('.line button')");
  }
  return times;
}

function quantiles(times: Measured) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
  return { p50: at(0.5), p99: at(0.99), most: rounded(sorted.at(-1) ?? Number.NaN) };
}
