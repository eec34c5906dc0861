import assert from 'node:assert/strict';
import { reviewsOf } from '../../../src/store/event-reviews.ts';
import {
  acknowledgeIncident,
  countOrigins,
  giveVerdict,
  incidentReviewsOf,
  muteIncident,
  verdictsOf,
} from '../../../src/store/incident-reviews.ts';
import { storeTest } from '../../fixture/store/stores.ts';

const ann = { atMs: 5_000, by: 'ann' };
/** More events than one statement takes. */
const events = Array.from({ length: 450 }, (_, i) => ({ eventId: `e${i}`, startedAtMs: i, record: `{"id":${i}}` }));

storeTest('an incident is acknowledged and muted with all of its events, and each is taken back', async ({ open }) => {
  const store = await open();
  const incident = { incidentId: 'i', mergedIds: [], events };
  const muted = { ...ann, untilMs: 9_000, reason: 'release' };
  await acknowledgeIncident(store, incident, { ...ann, note: 'looking' });
  assert.deepEqual(await muteIncident(store, incident, muted), { acknowledged: { ...ann, note: 'looking' }, muted });
  const reviews = await reviewsOf(store, ['e0', 'e449', 'other']);
  assert.deepEqual(
    [...reviews.values()].map((review) => [review.eventId, review.acknowledged?.by, review.muted?.reason]),
    [
      ['e0', 'ann', 'release'],
      ['e449', 'ann', 'release'],
    ],
  );
  assert.deepEqual([...(await incidentReviewsOf(store, ['i', 'unheard'])).keys()], ['i']);
  await acknowledgeIncident(store, incident, null);
  assert.equal((await reviewsOf(store, ['e7'])).get('e7')?.acknowledged, null);
  assert.deepEqual((await muteIncident(store, incident, null)).muted, null);
});

storeTest('verdicts are kept once, counted by origin, and taken back', async ({ open }) => {
  const store = await open();
  const origin = { verdict: 'origin' as const, subject: 'host=db-1' };
  const alien = { verdict: 'not-related' as const, subject: 'e1' };
  const whole = (incidentId: string, mergedIds: readonly string[] = []) => ({ incidentId, mergedIds });
  await giveVerdict(store, whole('i'), origin, { ...ann, note: null });
  await giveVerdict(store, whole('i'), origin, { ...ann, atMs: 6_000, note: 'again' });
  await giveVerdict(store, whole('j'), origin, { ...ann, note: null });
  await giveVerdict(store, whole('i'), alien, { ...ann, note: null });
  assert.deepEqual(await verdictsOf(store, ['i']), [
    { ...alien, incidentId: 'i', ...ann, note: null },
    { ...origin, incidentId: 'i', ...ann, atMs: 6_000, note: 'again' },
  ]);
  assert.deepEqual(await countOrigins(store, ['host=db-1', 'e1']), new Map([['host=db-1', 2]]));
  await giveVerdict(store, whole('j', ['i']), origin, { ...ann, note: null });
  assert.deepEqual(await countOrigins(store, ['host=db-1']), new Map([['host=db-1', 1]]));
  await giveVerdict(store, whole('j'), origin, null);
  assert.deepEqual(await countOrigins(store, ['host=db-1']), new Map());
  assert.deepEqual([await verdictsOf(store, []), await countOrigins(store, [])], [[], new Map()]);
});

storeTest('a review of an incident replaces those of the ones that were merged into it', async ({ open }) => {
  const store = await open();
  const muted = { ...ann, untilMs: 9_000, reason: 'release' };
  await muteIncident(store, { incidentId: 'part', mergedIds: [], events: [] }, muted);
  await acknowledgeIncident(store, { incidentId: 'part', mergedIds: [], events: [] }, { ...ann, note: null });
  await acknowledgeIncident(store, { incidentId: 'i', mergedIds: ['part'], events: [] }, null);
  const none = { acknowledged: null, muted: null };
  const reviews = await incidentReviewsOf(store, ['i', 'part']);
  assert.deepEqual([reviews.get('i'), reviews.get('part')], [none, { ...none, muted }]);
});
