import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { COMPANY, type ConsoleService, PAST, startConsole, TROUBLES } from '../../fixture/console/console-service.ts';
import { openPage, openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo, signIn, untilCount, untilLater } from '../../fixture/console/page-steps.ts';
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
  ['#/keys', '.sessions'],
  ['#/mutes', '.new-mute'],
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
  const { page, troubles } = await openPage(service.url);
  await signIn(page, 'not-a-key');
  await page.getByText('This key is unknown, revoked or expired.').waitFor();
  assert.equal(troubles.length > 0, true, 'a refused key is an answer of 401');
  troubles.length = 0;
  assert.deepEqual(await axeFindings(page), []);
  await signIn(page);
  await page.waitForSelector('.line');
  const [session] = await page.context().cookies();
  assert.deepEqual([session.name, session.httpOnly, session.sameSite], ['tidewatch-session', true, 'Strict']);
  assert.equal(await page.evaluate('document.cookie'), '');
  await page.reload();
  await page.waitForSelector('.line');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('#key');
  await page.reload();
  await page.waitForSelector('#key');
  assert.deepEqual(troubles, []);
});

test('signing out ends the requests that are on their way, so that none is refused', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  const held: Route[] = [];
  await page.route('**/v1/**', (route) => void held.push(route));
  await goTo(page, '#/service', '.page-head');
  await until('requests are on their way', () => held.length > 0);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('#key');
  await Promise.all(held.map((route) => route.continue()));
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

test('a series shows why it was flagged, and keeps the feedback of a person', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, `#/series/${encodeURIComponent(SERIES)}`, '.event-detail');
  await page.getByText('x the width of this interval outside it').waitFor();
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
  await until('there are values', async () => (await end()) !== '');
  const first = await end();
  service.operations.advance();
  await until('the chart has moved on', async () => (await end()) !== first);
  assert.equal((await end()) > first, true);
  await page.locator('.chart').focus();
  await page.keyboard.press('ArrowLeft');
  await page.locator('button[aria-pressed=false]', { hasText: 'Live' }).waitFor();
  assert.equal((await end()) < first, true);
  await page.getByRole('button', { name: 'all' }).click();
  await until('all is shown', async () => /^\d{4} values/.test(await label()));
});

test('time, axis and comparison of a chart are in the address, and what it shows is saved as a file', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, `#/series/${encodeURIComponent('web-3/cpu')}`, '.u-over');
  await page.getByRole('button', { name: '1 d' }).click();
  await page.getByLabel('Compare with').selectOption('day');
  await page.getByLabel('Axis').selectOption('zero');
  for (const part of [/from=\d+&to=\d+/, /compare=day/, /axis=zero/]) await page.waitForURL(part);
  const shown = await page.getByLabel('From', { exact: true }).inputValue();
  await page.getByText('the day before', { exact: true }).last().waitFor();
  await page.reload();
  await page.locator('.legend', { hasText: 'the day before' }).waitFor();
  assert.equal(await page.getByLabel('From', { exact: true }).inputValue(), shown);
  assert.equal(await page.getByLabel('Axis').inputValue(), 'zero');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV', exact: true }).click();
  assert.match(await readFile(await (await saved).path(), 'latin1'), /^series,timestamp,value/);
  assert.deepEqual(troubles, []);
});

test('times are those of the chosen clock, which stays after a reload, and terms have tooltips with their meanings', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, '#/events?kind=stuck', '.table');
  await page.getByText('What out, grade and severity mean').click();
  await page.getByText('most series reach 0.5 once in 1,000 observations').waitFor();
  const began = page.locator('tbody time').first();
  const inUtc = await began.getAttribute('title');
  assert.match(String(inUtc), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  await page.getByLabel('Times in').selectOption('Asia/Kolkata');
  await page.locator('tbody time[title$="GMT+5:30"]').first().waitFor();
  await page.reload();
  await page.locator('tbody time[title$="GMT+5:30"]').first().waitFor();
  assert.deepEqual(troubles, []);
});

test('a link of an alert offers to acknowledge or mute its event, once somebody has signed in', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/events?open=true&series=rack-4%2Ftemperature', '.table');
  const address = await page.getByRole('link', { name: 'rack-4/temperature' }).getAttribute('href');
  const visitor = await openPage(`${service.url}`);
  await goTo(visitor.page, `${address}?do=acknowledge`, '#key');
  await signIn(visitor.page);
  const offered = visitor.page.getByRole('button', { name: 'Acknowledge' });
  await offered.and(visitor.page.locator(':focus')).click();
  await visitor.page.getByText('Acknowledged by ops.').waitFor();
  await visitor.page.getByRole('button', { name: 'Acknowledged' }).click();
  await visitor.page.getByText('Acknowledged by ops.').waitFor({ state: 'detached' });
  await goTo(visitor.page, '#/events', '.table');
  await goTo(visitor.page, `${address}?do=mute`, '#mute-why');
});

for (const width of [360, 768, 1_280]) {
  test(`a button that is pressed while the chart above it is read stays under the pointer, ${width} wide`, async () => {
    const { page } = await openSignedIn(service.url, { viewport: { width, height: 1_600 } });
    await goTo(page, '#/events?open=true&series=host-2%2Fmemory-used', '.table');
    const address = await page.getByRole('link', { name: 'host-2/memory-used' }).getAttribute('href');
    const read = Promise.withResolvers<void>();
    await page.route('**/scores?*', async (route) => {
      await read.promise;
      await route.continue();
    });
    await goTo(page, String(address), '.facts');
    await page.getByRole('button', { name: /^Acknowledged?$/ }).hover();
    const before = await page.getByText('Acknowledged by ops.').count();
    await page.mouse.down();
    read.resolve();
    await page.locator('.chart[aria-label*="events. Arrow keys"]').waitFor();
    await page.mouse.up();
    await until('the button was clicked', async () => {
      return (await page.getByText('Acknowledged by ops.').count()) !== before;
    });
  });
}

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

test('the text of a filter stays while the list is read again, and is part of the address with the order', async () => {
  const { page } = await openSignedIn(service.url);
  await page.clock.install();
  await page.reload();
  await page.waitForSelector('.rail');
  await goTo(page, '#/events', '.table');
  const typed = page.getByLabel('Detector');
  let reads = 0;
  page.on('request', (request) => {
    if (request.url().includes('/v1/events')) reads++;
  });
  await typed.pressSequentially('hos');
  service.operations.advance();
  const before = reads;
  await untilLater(page, 'the list was read again', () => reads > before + 1);
  assert.equal(await typed.inputValue(), 'hos');
  await typed.pressSequentially('ts');
  await page.waitForURL(/detector=hosts/);
  await page.getByRole('link', { name: 'Severity' }).click();
  await page.waitForURL(/sort=-severity/);
  await page.reload();
  await page.locator('th[aria-sort=descending]').waitFor();
  assert.equal(await typed.inputValue(), 'hosts');
  const severities = await page.locator('tbody td:nth-child(7)').allTextContents();
  const numbers = severities.map(Number);
  assert.ok(numbers.length > 1);
  const expected = numbers.toSorted((a, b) => b - a);
  assert.deepEqual(numbers, expected);
});

test('the page of an ended event shows the time around it, its true end, what else happened, and the way to its series', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, '#/events?open=false&series=db-1%2Fconnections', '.table');
  await page.getByRole('link', { name: 'db-1/connections' }).click();
  await page.waitForURL(/#\/events\//);
  const label = async () => String(await page.locator('.chart').getAttribute('aria-label'));
  await page.locator('.u-over').first().waitFor();
  await until('the chart has values', async () => /^\d+ values/.test(await label()));
  const [, to] = / to (.*?), between/.exec(await label()) ?? [];
  const [, ended] =
    /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC: the series is as usual/.exec(
      String(await page.locator('.facts').textContent()),
    ) ?? [];
  assert.ok(ended < to, `${ended} is before ${to}`);
  assert.ok(Date.parse(to) < Date.now() - 3_600_000, 'the chart does not go on until now');
  await page.getByRole('heading', { name: 'At the same time' }).waitFor();
  await page.getByRole('link', { name: 'series', exact: true }).click();
  await page.getByRole('heading', { name: 'db-1/connections' }).waitFor();
  assert.deepEqual(troubles, []);
});

test('the page of an event shows from when to when it lasted, when its alarms were, and that values stay at a new level', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  const factsOf = async (series: string) => {
    await goTo(page, `#/events?open=false&series=${encodeURIComponent(series)}`, '.table');
    await page.getByRole('link', { name: series }).click();
    await page.waitForURL(/#\/events\//);
    await page.locator('.facts').waitFor();
    return page
      .locator('.facts div')
      .evaluateAll((rows) =>
        Object.fromEntries(rows.map((row) => [row.children[0].textContent, String(row.children[1].textContent)])),
      );
  };
  const dip = await factsOf('db-1/connections');
  const [from, to] = dip.Alarms.split(' to ');
  assert.ok(dip.Began <= from && from < to && to < dip.Ended, JSON.stringify(dip));
  const drift = await factsOf('host-4/memory-used');
  assert.match(drift['New level'], /: values stay where they went, and forecasts follow them$/);
  assert.ok(drift.Began < drift.Alarms, 'it began before its first alarm');
  await page.getByText('Values stay at the new level; forecasts followed after').waitFor();
  await goTo(page, '#/events?open=false&series=host-4%2Fmemory-used', '.table');
  await page.getByRole('cell', { name: 'new level' }).waitFor();
  assert.deepEqual(troubles, []);
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

const TYPE_AND_LEAVE = `(async () => {
  const search = document.querySelector('#search');
  search.value = 'rack-4';
  search.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise(requestAnimationFrame);
  // As a link does, before the page has seen it.
  history.pushState(null, '', '#/events');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return location.hash;
})()`;

test('a link that is followed while a search is typed is not undone by the search', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/series', '.tile');
  assert.equal(await page.evaluate(TYPE_AND_LEAVE), '#/events');
});

test('the search for series and the filter of events take matchers of labels, and name what is wrong with them', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/series', '.tile');
  await page.fill('#search', '{__name__=~"rack-4/.*"}');
  await untilCount(page, '.tile', 1);
  await page.fill('#search', '{__name__=~"rack-[4]"}');
  await page.getByText('has "["').waitFor();
  await goTo(page, '#/events', '.table');
  await page.fill('#f-series', '{__name__="web-2/latency-p95"}');
  await page.press('#f-series', 'Enter');
  await page.waitForURL(/__name__/);
  await until('only its events are listed', async () => {
    const named = await page.locator('.table tbody tr').allTextContents();
    return named.length > 0 && named.every((text) => text.includes('web-2/latency-p95'));
  });
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
