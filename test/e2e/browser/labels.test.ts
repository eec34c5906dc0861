import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { visibleId } from '../../../src/records/series/listed-names.ts';
import type { Database } from '../../../src/store/database/database.ts';
import { keepSent } from '../../../src/store/reviews/sent-alerts.ts';
import { type ConsoleService, PAST, startConsole } from '../../fixture/console/console-service.ts';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo, untilCount } from '../../fixture/console/page-steps.ts';
import { openMemoryStore } from '../../fixture/store/memory-store.ts';

const METRICS = ['cpu', 'latency', 'requests'];
const HOSTS = ['web-1', 'web-2', 'web-3', 'db-1'];
const names = HOSTS.flatMap((host) =>
  METRICS.map((metric) => `${metric}{host="${host}",team="${host.startsWith('web') ? 'shop' : 'data'}"}`),
);
const incidents = [0, 3, 4, 9].map((series) => {
  return { series, kind: 'level_shift' as const, from: PAST - 40 - series, until: null, size: 0.5 };
});
/** One that begins with the next step. */
const next = { series: 11, kind: 'level_shift' as const, from: PAST + 1, until: null, size: 0.9 };
const WIDTHS = [360, 768, 1_280];

let service: ConsoleService;
let store: Database;

before(async () => {
  store = await openMemoryStore();
  service = await startConsole({ names, incidents: [...incidents, next], store });
});
after(() => service.stop());

/** At three widths: findings of axe, and pages that are wider than the screen. */
async function faultsOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 860 });
    found.push(...(await axeFindings(page)));
    const shown = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (shown > width) found.push(`${shown} of ${width} pixels`);
  }
  return found;
}

test('lists of series and events are grouped by a label, which the address keeps', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  for (const [hash, selector, group] of [
    ['#/series', '.tile', '.label-group h2'],
    ['#/events', '.table', 'th[scope=rowgroup]'],
    ['#/now', '.line', '.label-group h3'],
  ]) {
    await goTo(page, hash, selector);
    await page.getByLabel('Group by').selectOption('by team');
    await page.locator(group, { hasText: 'team=shop' }).waitFor();
    await page.locator(group, { hasText: 'team=data' }).waitFor();
    await page.waitForURL(/by=label.team/);
    await page.reload();
    await page.locator(group, { hasText: 'team=shop' }).waitFor();
    assert.deepEqual(await faultsOf(page), [], hash);
  }
  assert.deepEqual(troubles, []);
});

test('Now shows the events of the labels in the address, and what is wrong with a filter', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await untilCount(page, '.line', incidents.length);
  const filter = page.getByRole('searchbox');
  await filter.fill('{team="data"');
  await page.getByText('The filter must be matchers').waitFor();
  await filter.fill('{team="data"}');
  await untilCount(page, '.line', 1);
  await page.getByRole('heading', { name: '1 event is open' }).waitFor();
  await page.reload();
  await untilCount(page, '.line', 1);
  await page.getByRole('searchbox').fill('latency');
  await untilCount(page, '.line', 1);
  assert.deepEqual(troubles, []);
});

test('series of a label are muted from an event, listed with who did it, ended early, and muted by a form', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await untilCount(page, '.line', incidents.length);
  await page.locator('.line-link', { hasText: names[0] }).click();
  await page.getByRole('button', { name: 'Mute', exact: true }).click();
  await page.getByLabel('Of', { exact: true }).selectOption('all of host=web-1');
  await page.getByLabel('Because').fill('new disk');
  assert.deepEqual(await axeFindings(page), []);
  await page.getByRole('dialog').getByRole('button', { name: 'Mute' }).click();
  await page.getByText(/Muted until .*: new disk\./).waitFor();
  await page.getByRole('link', { name: 'Mutes' }).last().click();
  const row = page.getByRole('row', { name: '{host="web-1"}' });
  await row.getByText('ops').waitFor();
  assert.deepEqual(await faultsOf(page), []);
  await row.getByRole('button').click();
  await page.getByText('Nothing is muted').waitFor();
  await page.getByRole('link', { name: 'Ended mutes' }).click();
  await row.getByText('ended by ops').waitFor();
  await page.getByLabel('Detector').fill('web');
  await page.getByLabel('Because').fill('release');
  await page.getByRole('button', { name: 'Mute', exact: true }).click();
  await page.getByRole('link', { name: 'Active mutes' }).click();
  await page.getByRole('row', { name: 'release' }).getByRole('button').click();
  await page.getByText('Nothing is muted').waitFor();
  assert.deepEqual(troubles, []);
});

test('an event shows to whom it was sent, and a page lists all that was sent with the outcome', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await untilCount(page, '.line', incidents.length);
  const link = page.locator('.line-link', { hasText: names[3] });
  const subjectId = String(await link.getAttribute('href')).replace('#/events/', '');
  const message = { notificationId: 'n', route: 'all', about: 'event', subjectId, subject: names[3] } as const;
  const opened = { ...message, type: 'opened', outcome: 'accepted', detail: null };
  const refused = { ...opened, receiver: 'boss', outcome: 'refused', detail: 'status 404' };
  const other = { ...opened, subjectId: 'gone', subject: 'gone', receiver: 'hook' };
  await keepSent(store, [
    { ...opened, receiver: 'hook', atMs: 1 },
    { ...refused, atMs: 2 },
    { ...other, atMs: 3 },
  ]);
  await link.click();
  await page.getByText('boss: opened').waitFor();
  await page.getByRole('link', { name: 'With outcomes and routes' }).click();
  await untilCount(page, 'tbody tr', 2);
  await page.getByText('given up, refused: status 404').waitFor();
  await page.getByRole('link', { name: 'All', exact: true }).click();
  await untilCount(page, 'tbody tr', 3);
  await page.getByLabel('Receiver').fill('boss');
  await untilCount(page, 'tbody tr', 1);
  await page.waitForURL(/receiver=boss/);
  assert.deepEqual(await faultsOf(page), []);
  assert.deepEqual(troubles, []);
});

test('while updates are paused a page does not change and counts what waits, which is shown when they are resumed', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await untilCount(page, '.line', incidents.length);
  await page.locator('.live', { hasText: 'Live' }).waitFor();
  await page.keyboard.press('p');
  const resume = page.getByRole('button', { name: /^Resume, / });
  await resume.waitFor();
  service.operations.advance();
  await page.getByRole('button', { name: 'Resume, 1 update waiting' }).waitFor();
  assert.equal(await page.locator('.line').count(), incidents.length);
  assert.deepEqual(await faultsOf(page), []);
  await resume.click();
  await page.locator('.line', { hasText: names[next.series] }).waitFor();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  assert.deepEqual(troubles, []);
});

/** Names that would be markup, code, an address, or something else than they seem. */
const HOSTILE = [
  '<img src=x onerror="window.hit=1">',
  '"><script>window.hit=1</script>',
  "'-window.hit=1-'",
  'javascript:window.hit=1',
  '</title></style></svg><svg onload=window.hit=1>',
  '../../../etc/passwd?x=1#y&z=%2F%00',
  '\u202egnp.rebmem\u202c',
  `very-long/${'x'.repeat(400)}`,
  '{{constructor.constructor("window.hit=1")()}}',
  ' ',
];

test('hostile names of series stay text on every page', async () => {
  const incidents = HOSTILE.map((_, series) => {
    return { series, kind: 'level_shift' as const, from: PAST - 20 - series, until: null, size: 0.6 };
  });
  const service = await startConsole({ names: HOSTILE, incidents });
  try {
    const { page, troubles } = await openSignedIn(service.url);
    await untilCount(page, '.line', HOSTILE.length);
    const shown = await page.locator('.line .what .name').allTextContents();
    assert.deepEqual(shown.toSorted(), HOSTILE.map(visibleId).toSorted());
    for (const [hash, selector] of [
      ['#/series', '.tile'],
      ['#/events', '.table'],
    ] as const) {
      await goTo(page, hash, selector);
    }
    for (const name of HOSTILE) {
      await goTo(page, '#/now', '.line');
      await page
        .locator('.line')
        .nth(shown.indexOf(visibleId(name)))
        .locator('a')
        .click();
      await page.waitForSelector('.event-detail');
      assert.equal(await page.locator('h1').textContent(), visibleId(name));
    }
    assert.equal(await page.evaluate('window.hit'), undefined);
    assert.deepEqual(troubles, []);
  } finally {
    await service.stop();
  }
});
