import assert from 'node:assert/strict';
import {
  addDetectorVersion,
  DETECTOR_VERSIONS_MAX,
  listDetectorVersions,
} from '../../../../src/store/detector-versions.ts';
import {
  acknowledged,
  labelled,
  labelledReviews,
  muted,
  noteRedriven,
  redrivenLetters,
  reviewEvents,
  reviewsOf,
} from '../../../../src/store/reviews/event-reviews.ts';
import { openedTest, storeTest } from '../../../fixture/store/stores.ts';

const event = (eventId: string, startedAtMs = 1_000) => ({ eventId, startedAtMs, record: `{"id":"${eventId}"}` });
const ann = { atMs: 5_000, by: 'ann' };

openedTest('a review is acknowledged, muted and labelled apart, and each is taken back', async (store) => {
  await reviewEvents(store, [event('e')], acknowledged({ ...ann, note: null }));
  await reviewEvents(store, [event('e')], muted({ ...ann, untilMs: 9_000, reason: 'release' }));
  const newer = { ...event('e'), record: '{"newer":1}' };
  await reviewEvents(store, [newer], labelled({ ...ann, real: false, note: 'noise' }));
  const review = (await reviewsOf(store, ['e', 'unheard'])).get('e')!;
  assert.deepEqual(review, {
    eventId: 'e',
    startedAtMs: 1_000,
    record: '{"newer":1}',
    acknowledged: { ...ann, note: null },
    muted: { ...ann, untilMs: 9_000, reason: 'release' },
    label: { ...ann, real: false, note: 'noise' },
  });
  assert.equal((await reviewEvents(store, [event('e')], muted(null)))[0].muted, null);
  assert.equal((await reviewEvents(store, [event('e')], labelled(null)))[0].label, null);
  assert.equal((await reviewEvents(store, [event('e')], acknowledged(null)))[0].acknowledged, null);
  assert.deepEqual(await reviewsOf(store, []), new Map());
});

openedTest('labels are exported by the start of their events', async (store) => {
  for (const [id, startedAtMs] of [
    ['late', 3_000],
    ['early', 1_000],
    ['middle', 2_000],
  ] as const) {
    await reviewEvents(store, [event(id, startedAtMs)], labelled({ ...ann, real: true, note: null }));
  }
  await reviewEvents(store, [event('unlabelled', 1_500)], acknowledged({ ...ann, note: null }));
  const ids = async (fromMs: number, toMs: number) =>
    (await labelledReviews(store, { fromMs, toMs })).map(({ eventId }) => eventId);
  assert.deepEqual(await ids(0, 9_000), ['early', 'middle', 'late']);
  assert.deepEqual(await ids(2_000, 3_000), ['middle']);
});

storeTest('a dead letter is sent again once, whoever asks; not where sending failed', async ({ open }) => {
  const [one, other] = [await open(), await open()];
  const place = { partition: 0, offset: 2 ** 40 };
  const failing = one.transaction(async (sql) => {
    assert.equal(await noteRedriven(sql, place, ann), true);
    throw new Error('Kafka is unavailable');
  });
  await assert.rejects(failing, /Kafka is unavailable/);
  assert.deepEqual(await redrivenLetters(other), new Set());
  assert.equal(await noteRedriven(one, place, ann), true);
  assert.equal(await noteRedriven(other, place, ann), false);
  assert.deepEqual(await redrivenLetters(other), new Set([`0-${2 ** 40}`]));
});

storeTest('of two replicas that save the next version of the detectors, one does', async ({ open }) => {
  const stores = [await open(), await open()];
  const version = (number: number) => ({
    version: number,
    savedAtMs: 1,
    savedBy: 'ann',
    comment: null,
    text: `${number}`,
  });
  const added = await Promise.all(stores.map((store) => addDetectorVersion(store, version(1))));
  assert.deepEqual(added.toSorted(), [false, true]);
  for (let number = 2; number <= DETECTOR_VERSIONS_MAX + 3; number++)
    await addDetectorVersion(stores[0], version(number));
  const kept = await listDetectorVersions(stores[1]);
  assert.equal(kept.length, DETECTOR_VERSIONS_MAX);
  assert.deepEqual([kept[0], kept.at(-1)?.version], [version(DETECTOR_VERSIONS_MAX + 3), 4]);
});
