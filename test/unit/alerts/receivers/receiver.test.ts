/** Receivers that mean harm, one behaviour after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BEHAVIOURS, REDIRECTS, startHostileReceiver } from '../../../fixture/alerts/hostile-receiver.ts';
import { startHttpReceiver } from '../../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';

/** Time-outs: what is accepted takes none, on any machine. */
const [SHORT_MS, LONG_MS] = [300, 60_000];

for (const [name, behaviour] of Object.entries({ ...BEHAVIOURS, ...REDIRECTS })) {
  test(`a receiver that ${name} costs at most the time-out, and nothing of it gets further`, async () => {
    const canary = await startHttpReceiver();
    const { url } = await startHostileReceiver(() => behaviour, canary.url);
    const timeoutMs = name === 'accepts' ? LONG_MS : name.startsWith('accepts') ? 10 * SHORT_MS : SHORT_MS;
    const { send, close } = receiverOf(`webhook: { url: "${url}/T0PSECRET" }, timeout: ${timeoutMs}ms`);
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map((number) => send(notificationOf([revisionsOf(number).opened]))),
    );
    for (const outcome of outcomes) {
      assert.equal(outcome.kind === 'accepted', name.startsWith('accepts'), JSON.stringify(outcome));
      assert.ok(JSON.stringify(outcome).length < 500);
      assert.doesNotMatch(JSON.stringify(outcome), /T0PSECRET|\\u00/);
    }
    assert.equal(canary.posts.length, 0);
    close();
  });
}
