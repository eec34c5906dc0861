import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureSingleTopic } from '../../../src/engine/topics/topic-admin.ts';
import { produceRecords } from '../../../src/kafka/produce/bulk-producer.ts';
import type { Incident } from '../../../src/records/incident.ts';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo, untilCount } from '../../fixture/console/page-steps.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { anomalyEvent } from '../../fixture/history/kept-records.ts';
import { serve, stop } from '../../fixture/http/served.ts';
import { incident } from '../../fixture/incidents/incident.ts';
import { freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';
import { scoreRecord } from '../../fixture/stream/score-record.ts';
import { untilPasses } from '../../fixture/until.ts';

const KEY = 'a-key-of-the-tests-and-of-nobody-else';
const MINUTE_MS = 60_000;
const NOW = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
const BEGIN = NOW - 20 * MINUTE_MS;
const SERIES = ['db-1/latency', 'web-1/errors', 'web-2/errors'];
/** It moves without an event. */
const MOVED = 'cache-1/misses';
const ALONE = 'rack-1/temperature';
const ID = 'ab'.repeat(16);

const eventId = (series: string) => Buffer.from(series.padEnd(16)).toString('hex').slice(0, 32);
const record = (key: string, value: object) => {
  return { partition: 0, key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)) };
};

function scores() {
  return [...SERIES, MOVED, ALONE].flatMap((series) =>
    Array.from({ length: 120 }, (_, i) => {
      const timestampMs = NOW - (120 - i) * MINUTE_MS;
      const moved = series === SERIES[0] ? 0.97 : 0.9;
      const grade = timestampMs >= BEGIN ? moved : 0.05 + (i % 7) / 100;
      return record(
        series,
        scoreRecord({ series, value: Math.sin(i) + 9 * grade, timestampMs, grade, state: 'scored' }),
      );
    }),
  );
}

const beganAt = (series: string) => BEGIN + Math.max(0, SERIES.indexOf(series)) * MINUTE_MS;
const events = [...SERIES, ALONE].map((series) =>
  record(
    series,
    anomalyEvent(eventId(series), { series, startedAtMs: beganAt(series), peakAtMs: NOW, updatedAtMs: NOW }),
  ),
);

function revisionOf(changes: Partial<Incident>) {
  const first = incident();
  const named = SERIES.map((series) => {
    return { ...first.events[0], eventId: eventId(series), series, startedAtMs: beganAt(series) };
  });
  const sizes = { eventCount: 3, seriesCount: 3, kind: 'related' } as const;
  const times = { startedAtMs: BEGIN, updatedAtMs: NOW };
  return record(ID, incident({ incidentId: ID, ...sizes, ...times, events: named, ...changes }));
}

/** Says that something has changed, as a program does. */
async function say(url: string, change: object): Promise<void> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const answer = await fetch(`${url}/v1/changes`, { method: 'POST', headers, body: JSON.stringify(change) });
  assert.equal(answer.status, 200);
}

kafkaTest('an incident is shown live, first of all, and its page has origins, onsets and verdicts', async () => {
  const connection = await kafkaConnection();
  const topics = await freshTopics(1);
  const DATA_DIR = freshFolder();
  const DETECTORS = join(DATA_DIR, 'detectors.yaml');
  const INCIDENTS_TOPIC = `${topics.observations}-incidents`;
  const { observations, changelog } = topics;
  const named = {
    observations,
    scores: topics.scores,
    events: topics.events,
    changelog,
    dead_letters: topics.deadLetters,
  };
  const detectors = [{ name: 'metrics', series: '*', freq: 'min', h: 4, detection_size: 4 }];
  await writeFile(DETECTORS, JSON.stringify({ topics: named, detectors }));
  await ensureSingleTopic(connection, 'output', { topic: INCIDENTS_TOPIC, like: topics.events });
  await produceRecords(connection, topics.scores, scores());
  await produceRecords(connection, topics.events, events);
  const brokers = connection.config.brokers.join();
  const CHANGES_TOPIC = `${topics.observations}-changes`;
  const env = { DATA_DIR, DETECTORS, KAFKA_BROKERS: brokers, INCIDENTS_TOPIC, CHANGES_TOPIC, TIDEWATCH_API_KEY: KEY };
  const served = await serve(env);
  try {
    await say(served.url, { time: BEGIN - 12 * MINUTE_MS, text: 'deploy web 4.2', link: 'https://ci.example.com/42' });
    await say(served.url, { time: BEGIN - 3 * MINUTE_MS, text: 'disk of db-1 replaced', series: 'db-1/*' });
    const { page, troubles } = await openSignedIn(served.url, { key: KEY });
    await page.getByText('4 events are open').waitFor();
    await produceRecords(connection, INCIDENTS_TOPIC, [revisionOf({})]);
    await page.locator('h1').getByText('1 incident is open').waitFor();
    await page.getByText('4 events, 1 outside incidents').waitFor();
    await untilCount(page, '.line.incident', 1);
    assert.deepEqual(await axeFindings(page), []);

    await page.locator('.line.incident a').click();
    await page.locator('h1').getByText('db-1').waitFor();
    await untilCount(page, '.onsets li.onset:not(.axis)', 3);
    await untilCount(page, '.onset .spark-line', 3);
    assert.deepEqual(await page.locator('.onset .figure').allTextContents(), ['first', '+1 min', '+2 min']);
    await page.getByText('where to look first').waitFor();
    const changes = page.locator('.change-list .name');
    await untilCount(page, '.change-list li', 2);
    assert.deepEqual(await changes.allTextContents(), [
      '3 min after disk of db-1 replaced',
      '12 min after deploy web 4.2',
    ]);
    const link = page.getByRole('link', { name: 'deploy web 4.2' });
    assert.equal(await link.getAttribute('href'), 'https://ci.example.com/42');
    await untilCount(page, '.onset .spark-change', 6);
    await page.locator('.origins').getByText('3 min after disk of db-1 replaced').waitFor();
    await page.getByRole('button', { name: /^Not related.*web-2/ }).click();
    await page.getByRole('button', { name: /^Confirm root cause.*db-1/ }).click();
    await untilCount(page, '.incident-page [aria-pressed=true]', 2);
    await page.getByText('Confirmed root cause of 1 incident.').waitFor();
    await page.getByRole('button', { name: 'Acknowledge all of it' }).click();
    await page.getByText('Acknowledged by').waitFor();
    assert.deepEqual(await axeFindings(page), []);

    await page.getByRole('link', { name: 'its events' }).click();
    await untilCount(page, '.table tbody tr', 3);
    // With all of its events.
    await untilCount(page, '.table tbody :text("acknowledged by")', 3);
    await goTo(page, `#/events/${eventId(SERIES[0])}`, '.event-detail');
    await page.getByRole('link', { name: 'incident', exact: true }).waitFor();
    await untilCount(page, '.change-list li', 2);
    assert.deepEqual(await changes.allTextContents(), [
      '3 min after disk of db-1 replaced',
      '12 min after deploy web 4.2',
    ]);
    await page.locator('.chart[aria-label*="and 2 changes"]').waitFor();
    await goTo(page, `#/series/${encodeURIComponent(ALONE)}`, '.change-list');
    await untilPasses('its changes are listed', async () => {
      assert.deepEqual(await changes.allTextContents(), ['deploy web 4.2']);
    });
    await page.setViewportSize({ width: 375, height: 740 });
    for (const [hash, selector] of [
      ['#/now', '.line.incident'],
      ['#/incidents', '.table'],
      [`#/incidents/${ID}`, '.onset'],
    ] as const) {
      await goTo(page, hash, selector);
      assert.deepEqual(await axeFindings(page), []);
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.equal(wide, 0, `${hash} fits on a phone`);
    }

    await goTo(page, '#/now', '.line.incident');
    const closed = { type: 'closed', revision: 1, endedAtMs: NOW, events: [] } as const;
    await produceRecords(connection, INCIDENTS_TOPIC, [revisionOf(closed)]);
    await page.locator('h1').getByText('4 events are open').waitFor();
    await untilCount(page, '.line.incident', 0);
    // While the history starts, the service says so.
    const actual = troubles.filter((trouble) => !trouble.includes('503'));
    assert.deepEqual(actual, []);
  } finally {
    await stop(served);
  }
});
