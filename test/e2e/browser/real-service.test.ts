/** One service over Kafka, which lives through what happens to it in the order of these tests. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { startAlertmanager, whyNoAlertmanager } from '../../fixture/alerts/alertmanager.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { startCommand } from '../../fixture/command.ts';
import { openPage, openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo, signIn, untilCount, untilLater } from '../../fixture/console/page-steps.ts';
import { type RealService, startRealService } from '../../fixture/console/real-service.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { kafkaConnection, kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const broker = ownKafka();

const WIDTHS = [360, 768, 1_280];

let service: RealService;
let page: Page;

after(() => service?.stop());

/** What `/readyz` says follows what the page says. */
const warned = (warning: RegExp | null) =>
  until(`it is ready, with the warning ${warning}`, async () => {
    const response = await fetch(`${service.served().ops}/readyz`);
    const { status, warnings = [] } = (await response.json()) as { status: string; warnings?: string[] };
    return status === 'ready' && (warning === null ? warnings.length === 0 : warning.test(warnings[0]));
  });

const headline = (text: string) => page.locator('h1').getByText(text).waitFor();
const notCurrent = (text: string) => page.locator('.not-current').getByText(text).waitFor();

kafkaTest('the console is never green without knowing: nothing judged yet, broker killed and back', async () => {
  const kafka = await broker();
  service = await startRealService();
  page = (await openSignedIn(service.url, { key: service.key, staysOpen: true })).page;
  await notCurrent('No series is scored yet');
  await headline('No open event is known');
  await service.feed(100);
  await headline('Nothing is wrong now');
  await page.getByText('2 series scored.').waitFor();
  await warned(null);

  await kafka.kill();
  await notCurrent('Nothing was read from Kafka since');
  await headline('No open event is known');
  // Requests with series are answered.
  await warned(/^nothing new is read from Kafka since 2\d{3}-/);

  await kafka.restart();
  await headline('Nothing is wrong now');
  await warned(null);
});

kafkaTest('a filter stays as it was typed while events come, and its address shows the same view again', async () => {
  const { page } = await openSignedIn(service.url, { key: service.key });
  await page.clock.install();
  await page.reload();
  await page.waitForSelector('.rail');
  await goTo(page, '#/events', '.page-head');
  const typed = page.getByLabel('Series');
  await typed.pressSequentially('cp');
  await page.waitForURL(/series=c/);
  await service.feedSpike('cpu');
  await service.feedSpike('memory');
  // Both are known before the list is looked at.
  await page.locator('nav .count').getByText('2', { exact: true }).waitFor();
  await untilLater(page, 'the list has the event', () => page.getByRole('rowheader', { name: 'cpu' }).isVisible());
  assert.equal(await page.getByRole('rowheader', { name: 'memory' }).count(), 0);
  assert.equal(await typed.inputValue(), 'cp');
  await page.reload();
  await page.getByRole('rowheader', { name: 'cpu' }).waitFor();
  assert.equal(await page.getByRole('rowheader', { name: 'memory' }).count(), 0);
  assert.equal(await typed.inputValue(), 'cp');
  await goTo(page, '#/events?series=c*u', 'tbody');
  await page.getByRole('rowheader', { name: 'cpu' }).waitFor();
});

kafkaTest('an assistant lists the open events, and explains one with its scores', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${service.key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', service.url), { requestInit: { headers } }));
  const call = async (name: string, args: Readonly<Record<string, unknown>>) => {
    const { content } = await client.callTool({ name, arguments: args });
    return JSON.parse((content[0] as { readonly text: string }).text).answer;
  };
  const { events } = await call('list_events', { open: true, match: 'c*' });
  const actual = events.map(({ series }: { readonly series: string }) => series);
  assert.deepEqual(actual, ['cpu']);
  const { event, scores } = await call('explain_event', { id: events[0].eventId });
  assert.equal(event.summary, events[0].summary);
  assert.ok(scores.timestamp.includes(event.peakAt));
  await client.close();
});

interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly generatorURL: string;
}

kafkaTest(
  'Alertmanager links to the page of an event, which opens after the sign-in',
  async (t) => {
    const hook = await startHttpReceiver();
    const { url } = await startAlertmanager(t, { webhook: hook.url });
    await startAlerts(t, url);
    const links = () =>
      hook.posts
        .flatMap(({ body }) => (JSON.parse(body) as { alerts: readonly PostedAlert[] }).alerts)
        .filter(({ labels }) => labels.series === 'cpu')
        .map(({ generatorURL }) => generatorURL);
    await until('its receiver was notified', () => links().length > 0);
    const [link] = links();
    const visitor = (await openPage(service.url)).page;
    await visitor.goto(link);
    await signIn(visitor, service.key);
    await visitor.getByRole('heading', { name: 'cpu' }).waitFor();
    await visitor.locator('.facts').waitFor();
    assert.equal(visitor.url(), link);
  },
  whyNoAlertmanager,
);

/** Sends all events to an Alertmanager. */
async function startAlerts(t: TestContext, alertmanager: string): Promise<void> {
  const folder = freshFolder();
  const [routes, detectors] = [join(folder, 'routes.yaml'), join(folder, 'detectors.yaml')];
  await writeFile(
    routes,
    `state_topic: state-${service.stream.topics.events}
console_url: ${service.url}/console
allow_private: [127.0.0.1]
receivers: [{ name: pager, alertmanager: { url: "${alertmanager}" } }]
routes: [{ name: all, receivers: pager }]`,
  );
  await writeFile(detectors, service.stream.detectors);
  const KAFKA_BROKERS = (await kafkaConnection()).config.brokers.join();
  const alerts = startCommand(['alerts', '--routes', routes, '--detectors', detectors, '--from-beginning'], {
    KAFKA_BROKERS,
    KAFKA_GROUP_ID: service.stream.groupId,
    OPS_PORT: '0',
  });
  t.after(() => alerts.kill());
}

kafkaTest('no page is wider than its screen, or has a serious finding of axe, at three widths', async () => {
  const [event] = await service.stream.events();
  const pages: readonly (readonly [string, string])[] = [
    ['#/now', '.line'],
    ['#/events', '.table'],
    [`#/events/${event.eventId}`, '.facts'],
    ['#/series/cpu', '.event-detail'],
    ['#/detectors', '.what-if'],
    ['#/service', '.figures'],
  ];
  const wrong: string[] = [];
  for (const [hash, selector] of pages) {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      await goTo(page, hash, selector);
      const shown = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (shown > width) wrong.push(`${hash} is ${shown} wide at ${width}`);
      wrong.push(...(await axeFindings(page)).map((finding) => `${hash} at ${width}: ${finding}`));
    }
  }
  assert.deepEqual(wrong, []);
});

kafkaTest('a service that was killed is the same after its start: pages reconnect, nothing is lost', async () => {
  const [{ eventId }] = await service.stream.events();
  const address = `#/events/${eventId}`;
  await goTo(page, address, '.facts');
  // By a key: on a busy machine a line above may move the button away between press and release of a mouse.
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).press('Enter');
  await page.getByText(/^Acknowledged by/).waitFor();
  await service.kill();
  await notCurrent('No answer from the service since');
  await service.start();
  await page.locator('.live.on').waitFor();
  await untilCount(page, '.not-current', 0);
  await page.getByText(/^Acknowledged by/).waitFor();
  assert.match(page.url(), new RegExp(`${address}$`));
  // What comes now is shown as before.
  await goTo(page, '#/series/cpu', '.page-head');
  const label = () => page.locator('.chart').getAttribute('aria-label').then(String);
  await page.locator('.chart[aria-label*="values from"]').waitFor();
  const before = await label();
  await service.feed(1);
  await until('the chart has moved on', async () => (await label()) !== before);
});

kafkaTest('a session that has ended leads to the sign-in, and from there back to the same page', async () => {
  await goTo(page, '#/series/memory?compare=day', '.page-head');
  const authorization = `Bearer ${service.key}`;
  const ended = await fetch(`${service.url}/v1/sessions`, { method: 'DELETE', headers: { authorization } });
  assert.equal(ended.status, 200);
  await page.getByText('Your session has ended.').waitFor();
  await signIn(page, service.key);
  await page.getByRole('heading', { name: 'memory' }).waitFor();
  await page.getByText(/^Tidewatch \d+\.\d+/).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Pause or resume updates').waitFor();
  await page.keyboard.press('Escape');
  assert.match(page.url(), /#\/series\/memory\?compare=day$/);
});

kafkaTest('the page reports that no worker runs', async () => {
  await service.worker.stop();
  await notCurrent('No worker is running');
});
