import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { COMPANY, type ConsoleService, PAST, startConsole, TROUBLES } from '../../fixture/console/console-service.ts';
import { openPage, openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo, signIn, untilCount } from '../../fixture/console/page-steps.ts';
import { AUTHORIZED } from '../../fixture/http/http-service.ts';
import { until } from '../../fixture/until.ts';

const SERIES = 'web-2/latency-p95';
const PAGES: readonly (readonly [string, string])[] = [
  ['#/now', '.line'],
  ['#/series', '.tile'],
  [`#/series/${encodeURIComponent(SERIES)}`, '.event-detail'],
  ['#/events', '.table'],
  ['#/detectors', '.what-if'],
  ['#/backtest', '.drop'],
  ['#/service', '.figures'],
  ['#/wall', '.wall-tile'],
];
/** One that begins with the next step. */
const NEXT = {
  series: COMPANY.indexOf('db-2/memory-used'),
  kind: 'spike',
  from: PAST + 1,
  until: PAST + 3,
  size: 1,
} as const;

let service: ConsoleService;

before(async () => {
  service = await startConsole({ names: COMPANY, incidents: [...TROUBLES, NEXT] });
});
after(() => service.stop());

test('a link signs in once, stays in no address, and works in a page that is open already', async () => {
  const { page, troubles } = await openPage(service.url);
  await page.waitForSelector('#key');
  const link = await service.signInLink();
  await page.goto(link);
  await page.waitForSelector('.rail');
  assert.equal(await page.evaluate('location.href.includes("sign-in")'), false);
  assert.deepEqual(troubles, []);
  const other = (await openPage(service.url)).page;
  await other.goto(link);
  await other.getByText('This link was used, or has expired.').waitFor();
  assert.equal(await other.evaluate('location.href.includes("sign-in")'), false);
  await signIn(other);
  await other.waitForSelector('.rail');
});

test('a key opens the console, the browser keeps a session that scripts cannot read, and signing out ends it', async () => {
  const { page, troubles } = await openPage(service.url, { tour: true });
  await signIn(page, 'not-a-key');
  await page.getByText('This key is unknown, revoked or expired.').waitFor();
  assert.equal(troubles.length > 0, true, 'a refused key is an answer of 401');
  troubles.length = 0;
  assert.deepEqual(await axeFindings(page), []);
  await signIn(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Next' }).click();
  assert.deepEqual(await axeFindings(page), []);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.waitForSelector('.line');
  const [session] = await page.context().cookies();
  assert.deepEqual([session.name, session.httpOnly, session.sameSite], ['tidewatch-session', true, 'Strict']);
  assert.equal(await page.evaluate('document.cookie'), '');
  await page.reload();
  await page.waitForSelector('.line');
  assert.equal(await page.locator('.tour').count(), 0, 'the tour is for the first visit');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('#key');
  await page.reload();
  await page.waitForSelector('#key');
  assert.deepEqual(troubles, []);
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`no page asks another host, logs an error or has a serious finding of axe: ${colorScheme}`, async () => {
    const { page, troubles } = await openSignedIn(service.url, { colorScheme });
    const found: string[] = [];
    for (const [hash, selector] of PAGES) {
      await goTo(page, hash, selector);
      await page.waitForTimeout(300);
      found.push(...(await axeFindings(page)).map((finding) => `${hash} ${finding}`));
    }
    assert.deepEqual(found, []);
    assert.deepEqual(troubles, []);
  });
}

test('on a phone no page is wider than the screen', async () => {
  const { page } = await openSignedIn(service.url, { viewport: { width: 360, height: 740 }, hasTouch: true });
  for (const [hash, selector] of PAGES) {
    await goTo(page, hash, selector);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.equal(Number(width) <= 360, true, `${hash} is ${width} wide`);
  }
});

test('Now lists what is wrong, worst first, and shows a new event without being loaded again', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await page.waitForSelector('.line');
  const names = await page.locator('.line .what .name').allTextContents();
  assert.deepEqual(names.slice(0, 2), ['api-1/request-rate', 'web-2/latency-p95']);
  service.operations.advance();
  await page.locator('.line .name', { hasText: 'db-2/memory-used' }).waitFor();
  await page.getByRole('heading', { name: '7 events are open' }).waitFor();
  service.operations.advance();
  service.operations.advance();
  await page.getByRole('heading', { name: '6 events are open' }).waitFor();
  await page.locator('.ended', { hasText: 'db-2/memory-used' }).waitFor();
  assert.deepEqual(troubles, []);
});

test('a browser whose language Intl does not know shows the page', async () => {
  const { page, troubles } = await openPage(service.url);
  await page
    .context()
    .addInitScript("Object.defineProperty(navigator, 'language', { get: () => 'en-US@posix', configurable: true })");
  await page.goto(`${service.url}/console`);
  await signIn(page);
  await page.waitForSelector('.line');
  assert.deepEqual(troubles, []);
});

test('a series says why it was flagged, and keeps what a person says about it', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, `#/series/${encodeURIComponent(SERIES)}`, '.event-detail');
  await page.getByText('times the width of this interval beyond it').waitFor();
  await page.locator('.chart[aria-label*="events. Arrow keys"]').waitFor();
  await page.getByRole('group', { name: 'Was it real?' }).getByRole('button', { name: 'Yes' }).click();
  await page.locator('button[aria-pressed=true]', { hasText: 'Yes' }).waitFor();
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await page.getByText('Acknowledged by ops.').waitFor();
  await page.getByRole('button', { name: 'Mute' }).click();
  await page.getByLabel('Because').fill('planned maintenance');
  await page.getByRole('dialog').getByRole('button', { name: 'Mute' }).click();
  await page.getByText(/Muted until .*: planned maintenance\./).waitFor();
  const labels = await (await fetch(`${service.url}/v1/labels`, { headers: AUTHORIZED })).text();
  assert.match(labels, /web-2\/latency-p95/);
});

test('the chart follows what arrives, and goes back in time by keys and buttons', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, `#/series/${encodeURIComponent('web-3/cpu')}`, '.u-over');
  const label = () => page.locator('.chart').getAttribute('aria-label').then(String);
  const end = async () => / to (.*?), between/.exec(await label())?.[1] ?? '';
  await until('there are values', async () => (await end()) !== '', { waitMsMax: 15_000 });
  const first = await end();
  service.operations.advance();
  await until('the chart has moved on', async () => (await end()) !== first, { waitMsMax: 15_000 });
  assert.equal((await end()) > first, true);
  await page.locator('.chart').focus();
  await page.keyboard.press('ArrowLeft');
  await page.locator('button[aria-pressed=false]', { hasText: 'Live' }).waitFor();
  assert.equal((await end()) < first, true);
  await page.getByRole('button', { name: 'all' }).click();
  await until('all is shown', async () => /^\d{4} values/.test(await label()), { waitMsMax: 15_000 });
});

test('events are filtered by the address, and one of a group shows the shares of its members', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/events?kind=stuck', '.table');
  await page.getByText('2 events').waitFor();
  assert.deepEqual(await page.locator('tbody th').allTextContents(), ['rack-4/temperature', 'rack-1/temperature']);
  await page.getByLabel('Kind').selectOption('level_shift');
  await page.getByRole('link', { name: 'checkout' }).click();
  await page.getByText('61 %').waitFor();
  await untilCount(page, '.drawings .spark-line', 3);
  await page.getByRole('link', { name: 'checkout/payments' }).first().click();
  await page.getByRole('heading', { name: 'checkout/payments' }).waitFor();
});

test('keys lead from page to page and into the search', async () => {
  const { page } = await openSignedIn(service.url);
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.waitForSelector('#search');
  await page.keyboard.press('/');
  await page.keyboard.type('rack-4');
  await untilCount(page, '.tile', 1);
  await page.getByRole('link', { name: /rack-4/ }).click();
  await page.getByRole('heading', { name: 'rack-4/temperature' }).waitFor();
});

const PRESS_AT_ONCE = `new MutationObserver((_, observer) => {
  if (document.querySelector('.rail') === null) return;
  observer.disconnect();
  for (const key of ['g', 's']) dispatchEvent(new KeyboardEvent('keydown', { key }));
}).observe(document.body, { childList: true, subtree: true })`;

test('a key that is pressed as soon as the page shows counts', async () => {
  const { page } = await openPage(service.url);
  await page.evaluate(PRESS_AT_ONCE);
  await signIn(page);
  await page.waitForSelector('#search');
});
