import assert from 'node:assert/strict';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

kafkaTest(
  'what is refused is listed, outlives the process, and is sent again on demand where it still holds',
  async () => {
    let isBroken = true;
    const hook = await startHttpReceiver((response) => response.writeHead(isBroken ? 404 : 200).end('no such hook'));
    const env = { HOOK: `${hook.url}/T0PSECRET`, OPS_PORT: '0' };
    const world = await alertsWorld(
      `
allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url_env: HOOK } }]
routes: [{ name: all, receivers: hook }]`,
      env,
    );
    const [open, over] = [revisionsOf(1, { series: 'still\u001b[31m open' }), revisionsOf(2)];
    const first = world.start();
    await world.write([open.opened, over.opened, over.closed]);
    await until('all are refused', async () => (await world.deadLetters()).length === 3);
    first.kill();
    await first.exitCode;

    const lines = await world.deadLetters();
    assert.equal(lines.length, 3);
    assert.match(
      lines.join('\n'),
      /hook {2}all {2}opened still \[31m open {2}refused: status 404: no such hook {2}[0-9a-f]{32}/,
    );
    assert.match(lines.join('\n'), /closed series-2/);
    assert.doesNotMatch([...lines, ...first.out, ...first.err].join('\n'), /T0PSECRET/);

    isBroken = false;
    const refused = hook.posts.length;
    const second = world.start('--redeliver');
    await until('they are sent again', () => hook.posts.length === refused + 2);
    const said = hook.posts.slice(refused).map(({ body }) => JSON.parse(body).data.events[0]);
    assert.deepEqual(said.map(({ type }) => type).toSorted(), ['closed', 'opened']);
    assert.equal(said.find(({ type }) => type === 'opened').dedupKey, open.opened.eventId);
    await until('nothing is left', async () => (await world.deadLetters()).length === 0);
    second.terminate();
    assert.equal(await second.exitCode, 0);
  },
);

kafkaTest('of two processes one sends, and the other takes over', async () => {
  const hook = await startHttpReceiver();
  const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`);
  const both = [world.start(), world.start()];
  const sends = (command: (typeof both)[number]) =>
    command.out.findLast((line) => /(?:this|another) process sends/.test(line))?.includes('this process') ?? false;
  await until('both take part', () => both.filter(sends).length === 1 && both.every(({ out }) => out.length > 2));
  await world.write([revisionsOf(1).opened]);
  await until('one has told', () => hook.posts.length > 0);
  const [owner, standby] = sends(both[0]) ? both : both.toReversed();
  owner.kill();
  await owner.exitCode;
  await world.write([revisionsOf(1).closed]);
  // What was accepted and not written yet is told again, under the same id.
  const said = () => new Map(hook.posts.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body).type]));
  await until('the other has told', () => said().size === 2);
  assert.deepEqual([...said().values()], ['anomaly.opened', 'anomaly.closed']);
  standby.terminate();
  assert.equal(await standby.exitCode, 0);
});
