import assert from 'node:assert/strict';
import type { DetectorConfig } from '../../../src/config/config.ts';
import { NO_RULES } from '../../../src/detection/event/open/event-rules.ts';
import type { AnomalyEvent } from '../../../src/records/anomaly-event.ts';
import type { ScoreRecord } from '../../../src/records/score-record.ts';
import { incidentValues } from '../../fixture/events/incident-values.ts';
import { fc } from '../../fixture/fast-check.ts';
import {
  detectorConfig,
  observationRecord,
  STEP_MS,
  type StreamRun,
  streamRun,
  streamSettings,
} from '../../fixture/stream/stream-run.ts';
import { virtualTest as test } from '../../fixture/virtual-time.ts';

const GAP = 4;
const alone = streamSettings({ detectionSize: GAP, context: 32, alarmRate: 0.01 });
const together = streamSettings({ ...alone, thresholdMethod: 'multivariate', calibrationSize: 28 });

const values = incidentValues([0, 40, -40, 400, Number.NaN]);

type Input = ReturnType<typeof observationRecord>;

/** Missing values are steps without an observation. */
function recordsOf(series: string, values: readonly number[], group?: string): (Input & { readonly step: number })[] {
  return values.flatMap((value, step) =>
    Number.isNaN(value) ? [] : [{ ...observationRecord(series, step, value, group), step }],
  );
}

function inOrder(records: readonly (Input & { readonly step: number })[]): Input[] {
  return records.toSorted((a, b) => a.step - b.step);
}

interface Ran {
  readonly events: readonly AnomalyEvent[];
  readonly scores: readonly ScoreRecord[];
}

const ranOf = (run: StreamRun): Ran => ({ events: run.events(), scores: run.scores() });

/** After each of these numbers of records comes a disturbance. */
const disturbances = fc.array(
  fc.record({
    records: fc.integer({ min: 1, max: 50 }),
    what: fc.constantFrom<'before' | 'after' | 'rebalance' | 'kill'>('before', 'after', 'rebalance', 'kill'),
  }),
  { maxLength: 6 },
);
type Disturbances = readonly { readonly records: number; readonly what: 'before' | 'after' | 'rebalance' | 'kill' }[];

async function ranWith(
  detector: DetectorConfig,
  input: readonly Input[],
  { disturbed = [], seriesMax = 1_000 }: { readonly disturbed?: Disturbances; readonly seriesMax?: number } = {},
): Promise<Ran> {
  const run = streamRun({ detectors: [detector], limits: { commitRecordsMax: 19, seriesMax } });
  let worker = await run.start();
  let sent = 0;
  for (const { records, what } of disturbed) {
    for (const { key, value } of input.slice(sent, sent + records)) run.broker.append(0, key, value);
    sent += records;
    if (what === 'before' || what === 'after') run.broker.failNextCommit(what);
    if (what === 'rebalance') run.broker.rebalance();
    if (what !== 'kill') continue;
    await worker.stop();
    worker = await run.start();
  }
  for (const { key, value } of input.slice(sent)) run.broker.append(0, key, value);
  await run.settled();
  await worker.stop();
  return ranOf(run);
}

function byId(events: readonly AnomalyEvent[]): AnomalyEvent[][] {
  return [...Map.groupBy(events, ({ eventId }) => eventId).values()];
}

function assertAscending(timesMs: readonly number[], message: string): void {
  const actual = timesMs.toSorted((a, b) => a - b);
  assert.deepEqual(actual, timesMs, message);
}

/** Returns the number of events that were closed. */
function assertWellFormed({ events, scores }: Ran): number {
  let closed = 0;
  const unitOf = ({ series, group }: { readonly series: string | null; readonly group: string | null }) =>
    group ?? series;
  for (const revisions of byId(events)) {
    const actual = revisions.map(({ revision }) => revision);
    const expected = revisions.map((_, i) => i);
    assert.deepEqual(actual, expected, 'revisions count up');
    const types = revisions.map(({ type }) => type);
    assert.match(types.join(), /^opened(,updated)*(,closed)?$/);
    if (types.includes('closed')) closed++;
    const thresholds = new Set(revisions.map(({ threshold }) => threshold));
    assert.equal(thresholds.size, 1, 'every revision has the threshold of the first alarm');
    const [threshold] = thresholds;
    const isUnusual = revisions[0].grade !== null;
    assert.ok(isUnusual ? threshold !== null && threshold > 0 && threshold < 1 : threshold === null, `${threshold}`);
    const updates = revisions.filter(({ type }) => type === 'updated');
    for (const isBack of [false, true]) {
      const made = updates.filter(({ recoveringSinceMs }) => (recoveringSinceMs !== null) === isBack);
      made.forEach(({ updatedAtMs }, i) => {
        const since = i === 0 ? Number.POSITIVE_INFINITY : updatedAtMs - made[i - 1].updatedAtMs;
        assert.ok(isBack || since >= GAP * STEP_MS, 'at most one update a detection window');
      });
    }
    for (const { closeReason, endedAtMs, type, kind, observations } of revisions) {
      const isShort = closeReason === 'recovered' && observations < 4;
      assert.ok(!isShort || (kind !== 'level_shift' && kind !== 'drift'), `a ${kind} of ${observations} rows`);
      assert.deepEqual([closeReason !== null, endedAtMs !== null], [type === 'closed', type === 'closed']);
    }
    for (const event of revisions) {
      const { startedAtMs, firstAlarmAtMs, peakAtMs, lastAlarmAtMs, endedAtMs, updatedAtMs } = event;
      assert.deepEqual([startedAtMs, firstAlarmAtMs], [revisions[0].startedAtMs, revisions[0].firstAlarmAtMs]);
      assertAscending([startedAtMs, firstAlarmAtMs, lastAlarmAtMs, updatedAtMs], 'alarms lie within the event');
      const untilMs = endedAtMs ?? updatedAtMs;
      assertAscending([startedAtMs, peakAtMs, lastAlarmAtMs, untilMs, updatedAtMs], 'peak and alarms lie within it');
      const { recoveringSinceMs } = event;
      if (recoveringSinceMs !== null) {
        assert.notEqual(event.type, 'closed');
        assertAscending([startedAtMs, peakAtMs, recoveringSinceMs, updatedAtMs], 'its values are back behind its peak');
      }
      assert.ok(firstAlarmAtMs - startedAtMs < GAP * STEP_MS, 'it begins at most a detection window before');
    }
  }
  const last = byId(events).map((revisions) => revisions[revisions.length - 1]);
  // An event that is open at the end has reported its alarms up to the last revision.
  const open = last.filter(({ type }) => type !== 'closed');
  const rowOf = (score: ScoreRecord) => `${unitOf(score)} ${score.timestampMs}`;
  const rows = new Map(scores.filter(({ alarm }) => alarm).map((score) => [rowOf(score), score]));
  const counts = new Map<string, number>();
  for (const score of rows.values()) {
    const during = last.filter((event) => {
      const until = open.includes(event) ? Number.POSITIVE_INFINITY : event.updatedAtMs;
      return unitOf(event) === unitOf(score) && score.timestampMs >= event.firstAlarmAtMs && score.timestampMs <= until;
    });
    // One that begins an event may end the one before.
    const own = during[during.length - 1];
    assert.ok(own !== undefined, `the alarm at ${score.timestampMs} belongs to an event`);
    // Alarms of the way back are none of it.
    const isWithin = open.includes(own) || score.timestampMs <= own.lastAlarmAtMs;
    if (isWithin) counts.set(own.eventId, (counts.get(own.eventId) ?? 0) + 1);
  }
  for (const event of last) if (event.type === 'closed') assert.equal(event.alarms, counts.get(event.eventId));
  return closed;
}

test('every event is opened and closed once, and every alarm belongs to one event', async () => {
  let closed = 0;
  await fc.assert(
    fc.asyncProperty(values, values, async (a, b) => {
      const input = inOrder([...recordsOf('a', a), ...recordsOf('b', b)]);
      closed += assertWellFormed(await ranWith(detectorConfig({ settings: alone }), input));
    }),
    { numRuns: 400 },
  );
  assert.ok(closed > 0, `only ${closed} events were closed`);
});

test('the same holds for a group, whose members share what they showed', async () => {
  let closed = 0;
  await fc.assert(
    fc.asyncProperty(values, values, values, async (a, b, c) => {
      const input = inOrder([a, b, c].flatMap((each, i) => recordsOf(`m${i}`, each, 'g')));
      const detector = detectorConfig({ group: 'group', settings: together });
      const ran = await ranWith(detector, input);
      closed += assertWellFormed(ran);
      for (const { members, group, series } of ran.events) {
        assert.deepEqual([group, series], ['g', null]);
        assert.ok(members.length > 0 && members.length <= 3);
        const sum = members.reduce((total, { share }) => total + share, 0);
        assert.ok(Math.abs(sum - 1) < 1e-9, `the shares add up to ${sum}`);
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(closed > 0, `only ${closed} events were closed`);
});

test('failing commits, rebalances and killed workers change no event', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(values, values, disturbances, async (a, b, disturbed) => {
      const input = inOrder([...recordsOf('a', a), ...recordsOf('b', b)]);
      const detector = detectorConfig({ settings: alone });
      const expected = await ranWith(detector, input);
      assert.deepEqual(await ranWith(detector, input, { disturbed }), expected);
      made += expected.events.length;
    }),
    { numRuns: 10 },
  );
  assert.ok(made > 0, `only ${made} revisions were made`);
});

test('failing commits, rebalances and killed workers change no event of a group', async () => {
  await fc.assert(
    fc.asyncProperty(values, values, disturbances, async (a, b, disturbed) => {
      const input = inOrder([a, b].flatMap((each, i) => recordsOf(`m${i}`, each, 'g')));
      const detector = detectorConfig({ group: 'group', settings: together });
      const { events } = await ranWith(detector, input);
      assert.deepEqual((await ranWith(detector, input, { disturbed })).events, events);
    }),
    { numRuns: 8 },
  );
});

test('an evicted series has its event closed, whichever worker evicts it', async () => {
  let evicted = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(values, { minLength: 4, maxLength: 4 }), disturbances, async (all, disturbed) => {
      const input = all.flatMap((each, i) => recordsOf(`s${i}`, each));
      const detector = detectorConfig({ settings: alone });
      const ran = await ranWith(detector, input, { seriesMax: 2 });
      assertWellFormed(ran);
      assert.deepEqual((await ranWith(detector, input, { seriesMax: 2, disturbed })).events, ran.events);
      evicted += ran.events.filter(({ closeReason }) => closeReason === 'evicted').length;
    }),
    { numRuns: 8 },
  );
  assert.ok(evicted > 0, 'no event was closed by an eviction');
});

test('without rules every alarm counts; a rule on the direction leaves the other side out', async () => {
  const up = detectorConfig({ settings: alone, events: { ...NO_RULES, direction: 'up' } });
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(values, async (a) => {
      const { events } = await ranWith(up, recordsOf('a', a));
      for (const { direction, value, expected } of events) {
        assert.equal(direction, 'up');
        assert.ok((value ?? 0) >= (expected ?? 0));
        seen++;
      }
    }),
    { numRuns: 20 },
  );
  assert.ok(seen > 0);
});
