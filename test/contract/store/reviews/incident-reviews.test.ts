import assert from 'node:assert/strict';
import { acknowledged, muted, reviewsOf } from '../../../../src/store/reviews/event-reviews.ts';
import {
  countOrigins,
  giveVerdict,
  incidentReviewsOf,
  reviewIncident,
  verdictsOf,
} from '../../../../src/store/reviews/incident-reviews.ts';
import { openedTest } from '../../../fixture/store/stores.ts';

const ann = { atMs: 5_000, by: 'ann' };
const release = { ...ann, untilMs: 9_000, reason: 'release' };
/** More events than one statement takes. */
const events = Array.from({ length: 450 }, (_, i) => ({ eventId: `e${i}`, startedAtMs: i, record: `{"id":${i}}` }));

openedTest('an incident is acknowledged and muted with all of its events, and each is taken back', async (store) => {
  const incident = { incidentId: 'i', mergedIds: [], events };
  const looking = { ...ann, note: 'looking' };
  await reviewIncident(store, incident, acknowledged(looking));
  const review = await reviewIncident(store, incident, muted(release));
  assert.deepEqual(review, { acknowledged: looking, muted: release });
  const reviews = await reviewsOf(store, ['e0', 'e449', 'other']);
  const actual = [...reviews.values()].map((review) => [review.eventId, review.acknowledged?.by, review.muted?.reason]);
  assert.deepEqual(actual, [
    ['e0', 'ann', 'release'],
    ['e449', 'ann', 'release'],
  ]);
  assert.deepEqual([...(await incidentReviewsOf(store, ['i', 'unheard'])).keys()], ['i']);
  await reviewIncident(store, incident, acknowledged(null));
  assert.equal((await reviewsOf(store, ['e7'])).get('e7')?.acknowledged, null);
  assert.deepEqual((await reviewIncident(store, incident, muted(null))).muted, null);
});

openedTest('verdicts are kept once, counted by origin, and taken back', async (store) => {
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

openedTest('a review of an incident replaces those of the ones that were merged into it', async (store) => {
  const part = { incidentId: 'part', mergedIds: [], events: [] };
  await reviewIncident(store, part, muted(release));
  await reviewIncident(store, part, acknowledged({ ...ann, note: null }));
  await reviewIncident(store, { incidentId: 'i', mergedIds: ['part'], events: [] }, acknowledged(null));
  const none = { acknowledged: null, muted: null };
  const reviews = await incidentReviewsOf(store, ['i', 'part']);
  assert.deepEqual([reviews.get('i'), reviews.get('part')], [none, { ...none, muted: release }]);
});
