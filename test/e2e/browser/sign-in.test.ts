/** People sign in at a real OpenID provider. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { IdentityProvider } from '../../../src/api/accounts/sign-in/identity-provider.ts';
import { COMPANY, type ConsoleService, startConsole } from '../../fixture/console/console-service.ts';
import { openPage } from '../../fixture/console/opened-page.ts';
import { goTo } from '../../fixture/console/page-steps.ts';
import { CLIENT, type RealProvider, startProvider } from '../../fixture/identity/real-provider.ts';

const SESSION_MS = 3_600_000;
const ROLES = new Map([
  ['sre', 'operator'],
  ['platform', 'admin'],
] as const);

let passedMs = 0;
const nowMs = () => Date.now() + passedMs;
let provider: RealProvider;
let service: ConsoleService;

before(async () => {
  provider = await startProvider(new Map([['ada', ['staff', 'sre']]]));
  const settings = { ...CLIENT, issuer: provider.issuer, groupsClaim: 'groups', roles: ROLES, sessionMs: SESSION_MS };
  const identity = new IdentityProvider({ ...settings, scope: null }, nowMs);
  service = await startConsole({ names: COMPANY.slice(0, 3), incidents: [], identity, nowMs });
  provider.serve(service.url);
});
after(() => Promise.all([service?.stop(), provider?.stop()]));

async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in at localhost' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** The session as the service knows it. */
async function sessionOf(page: Page): Promise<unknown> {
  return (await (await page.request.get(`${service.url}/console/session`)).json()).session;
}

test('a person signs in at the provider, returns to where they were, may what their groups may, and leaves', async () => {
  const { page } = await openPage(service.url);
  await goTo(page, '#/service', '#key');
  await signInAs(page, 'ada');
  await page.waitForSelector('.rail');
  assert.equal(await page.evaluate('location.hash'), '#/service');
  assert.deepEqual(await sessionOf(page), { name: 'ada@example.com', role: 'operator' });
  const status = async (path: string) => (await page.request.get(`${service.url}${path}`)).status();
  assert.deepEqual([await status('/v1/detectors'), await status('/v1/keys')], [200, 403]);
  const cookies = await page.context().cookies(service.url);
  const ours = cookies.filter(({ name }) => name.startsWith('tidewatch-'));
  const actual = ours.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]);
  assert.deepEqual(actual, [['tidewatch-session', true, 'Strict']]);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForSelector('#key');
  assert.equal(await sessionOf(page), null);
});

test('who is in no group with a role is refused with a sentence, and a key signs in all the same', async () => {
  const { page } = await openPage(service.url);
  await page.waitForSelector('#key');
  await signInAs(page, 'mallory');
  await page.getByText('None of your groups has a role.').waitFor();
  assert.equal(await sessionOf(page), null);
  assert.equal(await page.getByLabel('API key').count(), 1);
});

test('a session of the provider ends after its time, and the next sign-in has the groups of then', async () => {
  const { page } = await openPage(service.url);
  await page.waitForSelector('#key');
  await signInAs(page, 'ada');
  await page.waitForSelector('.rail');
  passedMs += SESSION_MS;
  assert.equal(await sessionOf(page), null);
  await page.reload();
  provider.groups.set('ada', ['platform']);
  // The provider knows the browser still, and asks nothing.
  await page.getByRole('button', { name: 'Sign in at localhost' }).click();
  await page.waitForSelector('.rail');
  assert.deepEqual(await sessionOf(page), { name: 'ada@example.com', role: 'admin' });
});
