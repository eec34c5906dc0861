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
  const incident = { incidentId: 'i', events };
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
  const origin = (incidentId: string) => ({ incidentId, verdict: 'origin' as const, subject: 'host=db-1' });
  const alien = { incidentId: 'i', verdict: 'not-related' as const, subject: 'e1' };
  await giveVerdict(store, origin('i'), { ...ann, note: null });
  await giveVerdict(store, origin('i'), { ...ann, atMs: 6_000, note: 'again' });
  await giveVerdict(store, origin('j'), { ...ann, note: null });
  await giveVerdict(store, alien, { ...ann, note: null });
  assert.deepEqual(await verdictsOf(store, ['i']), [
    { ...alien, ...ann, note: null },
    { ...origin('i'), ...ann, atMs: 6_000, note: 'again' },
  ]);
  assert.deepEqual(await countOrigins(store, ['host=db-1', 'e1']), new Map([['host=db-1', 2]]));
  await giveVerdict(store, origin('j'), null);
  assert.deepEqual(await countOrigins(store, ['host=db-1']), new Map([['host=db-1', 1]]));
  assert.deepEqual([await verdictsOf(store, []), await countOrigins(store, [])], [[], new Map()]);
});
