import assert from 'node:assert/strict';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { revisionsOf } from '../../fixture/alerts/notification.ts';
import { alertsWorld } from '../../fixture/kafka/alerts-process.ts';
import { kafkaTest, ownKafka } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const broker = ownKafka();

kafkaTest('while the broker is away alerts are not ready, lose nothing, and send it afterwards', async () => {
  const kafka = await broker();
  let isOpen = true;
  const accepted: string[] = [];
  const hook = await startHttpReceiver((response, { body }) => {
    if (isOpen) accepted.push(body);
    response.writeHead(isOpen ? 200 : 503).end();
  });
  const world = await alertsWorld(`
allow_private: [127.0.0.1]
receivers: [{ name: hook, webhook: { url: "${hook.url}" } }]
routes: [{ name: all, receivers: hook }]`);
  const alerts = world.start();
  await world.write([revisionsOf(1).opened]);
  await until('it is sent', () => accepted.length > 0);
  isOpen = false;
  await world.write([revisionsOf(2).opened]);
  await until('it is tried', () => hook.posts.length > 1);
  const ready = async () => {
    const { url } = await alerts.logged('the operators port is open');
    return (await fetch(`${url}/readyz`)).status;
  };
  await until('it is ready', async () => (await ready()) === 200);
  await kafka.kill();
  await until('it is not ready', async () => (await ready()) === 503);
  isOpen = true;
  await kafka.restart();
  await world.write([revisionsOf(1).closed]);
  const said = () =>
    new Set(
      accepted.map((body) => {
        const { data } = JSON.parse(body);
        return `${data.events[0].type} ${data.events[0].series}`;
      }),
    );
  await until('everything is sent', () => ['opened series-2', 'closed series-1'].every((text) => said().has(text)));
  await until('it is ready again', async () => (await ready()) === 200);
  alerts.terminate();
  assert.equal(await alerts.exitCode, 0);
});
