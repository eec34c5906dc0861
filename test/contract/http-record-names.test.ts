import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { TSchema } from 'typebox';
import { AnomalyEventAnswer } from '../../src/api/wire/schema/operations/event-schema.ts';
import { GroupsAnswer, SeriesNow, SeriesScoresAnswer } from '../../src/api/wire/schema/operations/history-schema.ts';
import { IncidentDetailAnswer } from '../../src/api/wire/schema/operations/incident-schema.ts';
import { DeadLetterAnswer } from '../../src/api/wire/schema/operations/service-schema.ts';
import { RECORD_FIELDS } from '../../src/records/record-schema.ts';

const LETTER_FIELDS = JSON.parse(
  readFileSync(new URL('../../schemas/dead-letter.schema.json', import.meta.url), 'utf8'),
).properties as object;

/** The fields of an answer. */
function namesOf({ properties }: { readonly properties: Readonly<Record<string, TSchema>> }): string[] {
  return Object.keys(properties);
}

/** What stands in an answer of HTTP alone. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  event: ['incidentId', 'acknowledged', 'muted', 'label'],
  incident: ['acknowledged', 'muted', 'verdicts', 'mergedIds', 'similar', 'confirmed'],
  series: ['ended', 'recent'],
  scores: ['from', 'to', 'bucket_ms', 'value_min', 'value_max', 'alarms', 'anomalies', 'observations'],
  group: ['members', 'alarms'],
  letter: ['id', 'redriven'],
};

for (const [answer, schema, record] of [
  ['event', AnomalyEventAnswer, RECORD_FIELDS['anomaly-event']],
  ['incident', IncidentDetailAnswer, RECORD_FIELDS['anomaly-incident']],
  ['series', SeriesNow, RECORD_FIELDS['anomaly-score']],
  ['scores', SeriesScoresAnswer, RECORD_FIELDS['anomaly-score']],
  ['group', GroupsAnswer.properties.groups.items, RECORD_FIELDS['anomaly-score']],
  ['letter', DeadLetterAnswer, LETTER_FIELDS],
] as const) {
  test(`an answer has the names of its record in Kafka: ${answer}`, () => {
    const others = namesOf(schema).filter((name) => !Object.hasOwn(record, name));
    assert.deepEqual(others, OWN[answer]);
  });
}

test('an event over HTTP has every field of its record', () => {
  const names = namesOf(AnomalyEventAnswer);
  const unnamed = Object.keys(RECORD_FIELDS['anomaly-event']).filter((name) => !names.includes(name));
  assert.deepEqual(unnamed, []);
});
