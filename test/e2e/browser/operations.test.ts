import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { COMPANY, type ConsoleService, PAST, startConsole, TROUBLES } from '../../fixture/console/console-service.ts';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo } from '../../fixture/console/page-steps.ts';
import { AUTHORIZED } from '../../fixture/http/http-service.ts';

let service: ConsoleService;

/** A series whose events are not real. */
const NOISY = 'db-1/memory-used';
const NOISE = [2_000, 2_600, 3_200].map((ago) => {
  const from = PAST - ago;
  return { series: COMPANY.indexOf(NOISY), kind: 'dip', from, until: from + 4, size: 0.4 } as const;
});

before(async () => {
  service = await startConsole({ names: COMPANY, incidents: [...TROUBLES, ...NOISE] });
});
after(() => service.stop());

test('what if: other settings are shown next to the present ones, and saved for all workers once confirmed', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, '#/detectors/hosts', '.what-if');
  await page.getByLabel('Series', { exact: true }).fill('web-2/latency-p95');
  await page.getByLabel('False alarms').fill('1/month');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.waitForURL(/#\/detectors\/hosts\?job=wi-/);
  const result = page.getByRole('region', { name: 'What if', exact: true });
  await result.getByText('would be gone').waitFor();
  await result.getByRole('button', { name: 'Check and save' }).click();
  const changes = page.getByRole('dialog');
  await changes.getByText('This changes').waitFor();
  const cells = await changes.locator('tbody tr > *').allTextContents();
  assert.deepEqual(cells, ['hosts', 'false_alarms', '1/week', '1/month']);
  await changes.getByRole('button', { name: 'Save for all workers' }).click();
  await page.getByText('version 1', { exact: true }).waitFor();
  const [{ text, savedBy, comment }] = service.operations.published;
  assert.match(text, /detection_size: 24\n {4}false_alarms: 1\/month\n\n {2}# Everything else/);
  assert.match(text, /false_alarms: 1\/week # agreed with the team/);
  assert.deepEqual([savedBy, comment], ['ops', 'hosts: false_alarms 1/month']);
  assert.deepEqual(troubles, []);
});

test('the file itself is edited, refused with its problems, and rolled back', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/detectors', '.what-if');
  await page.locator('summary', { hasText: 'The detectors file' }).click();
  const file = page.getByLabel('Detectors file');
  const panel = page.locator('details');
  await file.fill((await file.inputValue()).replace('2/week', 'never'));
  await panel.getByRole('button', { name: 'Check and save' }).click();
  await page.getByText('racks.false_alarms must be a rate such as 1/week').waitFor();
  await file.fill((await file.inputValue()).replace('never', '3/week'));
  await panel.getByRole('button', { name: 'Check and save' }).click();
  await page.getByRole('button', { name: 'Save for all workers' }).click();
  await page.getByText('version 2', { exact: true }).waitFor();
  const table = page.locator('.versions');
  await table.getByRole('button', { name: 'Roll back to it' }).first().click();
  const changes = page.getByRole('dialog');
  await changes.getByText('This changes').waitFor();
  assert.deepEqual(await changes.locator('tbody tr > *').allTextContents(), [
    'racks',
    'false_alarms',
    '3/week',
    '2/week',
  ]);
  await changes.getByRole('button', { name: 'Save for all workers' }).click();
  await page.getByText('version 3', { exact: true }).waitFor();
  await table
    .getByRole('row', { name: /the detectors file/ })
    .getByRole('button')
    .click();
  await changes.getByRole('button', { name: 'Save for all workers' }).click();
  await page.getByText('version 4', { exact: true }).waitFor();
  const [first, , third, fourth] = service.operations.published;
  assert.equal(third.text, first.text);
  assert.equal(fourth.text, await service.operations.detectors.fileText());
});

test('a dead letter is shown with its record, and sent again once', async () => {
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, '#/service', '.figures');
  await page.getByRole('button', { name: 'value-missing 1' }).click();
  await page.getByText('the record has no value').waitFor();
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('sent again').waitFor();
  assert.equal(service.operations.redriven.length, 1);
  assert.deepEqual(troubles, []);
});

test('settings that watch nothing are listed above the detectors, with the remedy', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/detectors', '.table');
  assert.equal(await page.getByRole('region', { name: 'Findings' }).count(), 0);
  const numbers = { observations: 5_600, duplicates: 4_635, missing: 0 };
  service.operations.diagnostics = [{ kind: 'step', detector: 'hosts', freq: '30min', step: '5min', ...numbers }];
  await page.reload();
  const findings = page.getByRole('region', { name: 'Findings' });
  await findings.getByText('4,635 of 5,600 observations dropped as duplicates; set freq: 5min').waitFor();
  service.operations.diagnostics = [];
});

test('a key is made, shown once, given credit and revoked; who has it may only look', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/keys', '#key-name');
  await page.getByLabel('Name of the new key').fill('dashboard');
  await page.getByRole('button', { name: 'Create' }).click();
  const key = String(await page.locator('.made code').textContent());
  const viewer = (await openSignedIn(service.url, { key })).page;
  await viewer.waitForSelector('.line');
  assert.equal(await viewer.locator('.line button:not(.copy)').count(), 0);
  await goTo(viewer, '#/detectors', '.table');
  await viewer.getByText('requires a key with the role operator').waitFor();
  await goTo(viewer, '#/keys', '.sessions');
  assert.equal(await viewer.locator('#key-name').count(), 0);
  const row = page.getByRole('row', { name: /dashboard/ });
  await row.getByLabel('Tokens for dashboard').fill('500');
  await row.getByRole('button', { name: 'Credit' }).click();
  await row.getByText('500', { exact: true }).waitFor();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await row.getByRole('button', { name: 'Revoke for good' }).click();
  await row.getByText('revoked').waitFor();
  await viewer.reload();
  await viewer.waitForSelector('#key');
});

test('sessions are listed with their keys, and a browser whose session was ended is asked for a key', async () => {
  const [{ page }, other] = [await openSignedIn(service.url), await openSignedIn(service.url)];
  await goTo(page, '#/keys', '.sessions');
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByText('this one').waitFor();
  assert.equal(await sessions.getByText('this one').count(), 1);
  const before = await sessions.getByRole('button', { name: 'End the session of ops' }).count();
  assert.ok(before >= 2, `${before} sessions`);
  await page.getByRole('button', { name: 'End all of every key' }).click();
  await page.waitForSelector('#key');
  await other.page.reload();
  await other.page.waitForSelector('#key');
});

test('what is shown is called current only while it is: a lost stream, no worker, nothing judged', async () => {
  const { page } = await openSignedIn(service.url);
  const { operations } = service;
  await goTo(page, '#/events', '.table');
  const live = page.locator('.live');
  await live.getByText('Live', { exact: true }).waitFor();
  const notCurrent = page.locator('.not-current');
  assert.equal(await notCurrent.count(), 0);
  operations.trouble = { reason: 'Kafka does not answer', sinceMs: Date.now() - 60_000, due: null };
  await notCurrent.getByText('Nothing was read from Kafka since').waitFor();
  await live.getByText('Not current').waitFor();
  await page.getByText('Kafka does not answer').waitFor();
  operations.trouble = { reason: 'nothing arrived', sinceMs: Date.now() - 60_000, due: '5min' };
  operations.waiting = 0;
  await notCurrent.getByText('due every 5min').waitFor();
  await live.getByText('No input').waitFor();
  operations.trouble = null;
  operations.members = 0;
  await page.getByText('No worker is running').waitFor();
  operations.members = 2;
  operations.states = new Map([['calibrating', 40]]);
  await goTo(page, '#/now', '.page-head');
  await notCurrent.getByText('No series is scored yet: 40 series calibrating.').waitFor();
  operations.states = null;
  await live.getByText('Live', { exact: true }).waitFor();
  assert.equal(await notCurrent.count(), 0);
});

/** What people say about the events of a series. */
async function sayOf(series: string, real: (number: number) => boolean): Promise<void> {
  const headers = { ...AUTHORIZED, 'content-type': 'application/json' };
  const found = await fetch(`${service.url}/v1/events?series=${encodeURIComponent(series)}`, { headers });
  const { events } = (await found.json()) as { events: { eventId: string }[] };
  for (const [i, { eventId }] of events.entries()) {
    const body = JSON.stringify({ real: real(i) });
    await fetch(`${service.url}/v1/events/${eventId}/label`, { method: 'POST', headers, body });
  }
}

test('what other settings lose of real events is shown before anybody saves them', async () => {
  await sayOf(NOISY, () => false);
  await sayOf('web-2/latency-p95', () => true);
  const { page, troubles } = await openSignedIn(service.url);
  await goTo(page, '#/detectors/hosts', '.what-if');
  await page.getByLabel('Over').selectOption('the last 4 weeks');
  await page.getByLabel('False alarms').fill('2/month');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.waitForURL(/#\/detectors\/hosts\?job=wi-/);
  const result = page.getByRole('region', { name: 'What if', exact: true });
  await result.getByText('3 by the first, 2 by the second').waitFor();
  await result.getByText('These settings lose 1 event that people confirmed').waitFor();
  await page.reload();
  await result.getByText('These settings lose 1 event that people confirmed').waitFor();
  for (const width of [360, 768, 1_280]) {
    await page.setViewportSize({ width, height: 800 });
    assert.deepEqual(await axeFindings(page), []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width, `wider than ${width}`);
  }
  await result.getByRole('button', { name: 'Save anyway' }).click();
  await page.getByRole('button', { name: 'Save for all workers' }).click();
  await result.getByText(/^Saved as version/).waitFor();
  assert.equal(service.operations.published.at(-1)?.comment, 'hosts: false_alarms 2/month');
  assert.deepEqual(troubles, []);
});

test('other settings are tried on all groups of a detector', async () => {
  const { page } = await openSignedIn(service.url);
  await goTo(page, '#/detectors/checkout', '.what-if');
  assert.equal(await page.getByLabel('Series', { exact: true }).count(), 0);
  await page.getByLabel('False alarms').fill('1/month');
  await page.getByRole('button', { name: 'Try it' }).click();
  await page.waitForURL(/#\/detectors\/checkout\?job=wi-/);
  await page.getByRole('region', { name: 'What if', exact: true }).getByText('would be gone').waitFor();
});

test('half an answer, as of a service that was killed, is no answer: the chart is read again', async () => {
  const { page } = await openSignedIn(service.url);
  const half = (route: Route) => route.fulfill({ contentType: 'application/json', body: '{"series":' });
  for (const scores of [/scores.*points=2400/, /scores.*points=1200/]) {
    await goTo(page, '#/keys', '.sessions');
    await page.route(scores, half, { times: 1 });
    await goTo(page, '#/series/web-2%2Flatency-p95', 'h1');
    await page.getByText('The service cannot be reached.').waitFor();
    await page.locator('.chart[aria-label*="values from"]').waitFor();
  }
});
