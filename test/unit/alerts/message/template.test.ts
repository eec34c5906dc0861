import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTemplate, RENDERED_CHARACTERS_MAX, renderTemplate } from '../../../../src/alerts/message/template.ts';
import { DEFAULT_WORDING, wordsOf } from '../../../../src/alerts/message/wording.ts';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { fc } from '../../../fixture/fast-check.ts';
import { anomalyEvent } from '../../../fixture/stream/anomaly-event.ts';

function render(source: string, ...events: Parameters<typeof notificationOf>[0]): string {
  const parsed = parseTemplate(source);
  if (parsed.kind === 'problem') throw new Error(parsed.problem);
  return renderTemplate(parsed.template, notificationOf(events.length === 0 ? [anomalyEvent()] : events));
}

function problemOf(source: string): string | null {
  const parsed = parseTemplate(source);
  return parsed.kind === 'problem' ? parsed.problem : null;
}

test('fields, labels, conditions and loops', () => {
  assert.equal(
    render('{{series}}: {{value}} ({{ expected }}) {{labels.team}}{{labels.none}}'),
    'web-1/cpu: 99 (42) platform',
  );
  const sections = render('{{#unusual}}yes{{/unusual}}{{^unusual}}no{{/unusual}}{{startedAt}}');
  assert.equal(sections, 'no2026-05-01 12:00:00 UTC');
  const [a, b] = [revisionsOf(1).opened, revisionsOf(2).closed];
  const list = render('{{count}}:{{#events}} {{subject}}{{#endedAt}} over{{/endedAt}};{{/events}}', a, b);
  assert.equal(list, '2: series-1; series-2 over;');
});

test('the text for the one on call has the usual range, the distance, since when, what to do, and where to answer', () => {
  const labels = { runbook_url: 'https://runbooks.example/memory', next_step: 'restart the cache' };
  const event = anomalyEvent({
    value: 2 ** 31,
    expected: 2 ** 30,
    lo: 2 ** 29,
    hi: 1.5 * 2 ** 30,
    unit: 'bytes',
    labels,
  });
  const wording = { ...DEFAULT_WORDING, consoleUrl: 'https://tidewatch.example/console' };
  const { text } = wordsOf(wording, notificationOf([{ ...event, updatedAtMs: event.startedAtMs + 600_000 }]));
  const page = `https://tidewatch.example/console#/events/${event.eventId}`;
  assert.deepEqual(text.split('\n').slice(1), [
    'usual: 512 MiB to 1.5 GiB; +100 %',
    'spike, warning, detector cpu, since 2026-05-01 12:00:00 UTC, ongoing for 10 min',
    'next step: restart the cache',
    'runbook: https://runbooks.example/memory',
    page,
    `acknowledge: ${page}?do=acknowledge`,
    `mute: ${page}?do=mute`,
  ]);
});

test('a problem names the tag that is wrong', () => {
  assert.match(problemOf('{{sereis}}')!, /known fields, got \{\{sereis\}\}/);
  assert.match(
    problemOf('{{sereis}}')!,
    /; did you mean \{\{series\}\}\? Known fields: type, .*status, .*labels\.NAME, seriesLabels\.NAME$/,
  );
  assert.match(problemOf('{{#serverity}}x{{/serverity}}')!, /; did you mean \{\{severity\}\}\? Known fields: /);
  assert.match(problemOf('{{constructor}}')!, /known fields/);
  assert.match(problemOf('{{__proto__}}')!, /known fields/);
  assert.match(problemOf('{{labels}}{{events}}')!, /known fields, got \{\{labels\}\}/);
  assert.match(problemOf('{{#kind}}')!, /Unclosed section "kind"/);
  assert.match(problemOf('{{/kind}}')!, /Unopened section "kind"/);
  assert.match(problemOf('{{#events}}{{#events}}{{/events}}{{/events}}')!, /one \{\{#events\}\} at a time/);
  assert.match(problemOf('{{kind')!, /Unclosed tag/);
  for (const other of ['{{{kind}}}', '{{&kind}}', '{{>kind}}', '{{=<% %>=}}']) {
    assert.match(problemOf(other)!, /\{\{field\}\}, \{\{#field\}\} and \{\{\^field\}\} only, got/);
  }
  assert.match(problemOf(`${'{{#kind}}'.repeat(9)}${'{{/kind}}'.repeat(9)}`)!, /at most 8 sections/);
  assert.equal(problemOf('a } b { c'), null);
});

test('an event without a label does not show that of another one, and the syntax of 0.2.0 is named with its replacement', () => {
  const [a, b] = [revisionsOf(1, { labels: { team: 'db' } }).opened, revisionsOf(2, { labels: {} }).opened];
  assert.equal(render('{{labels.team}}:{{#events}}[{{labels.team}}]{{/events}}', a, b), 'db:[db][]');
  for (const tag of [
    '{{#if kind}}x{{/if kind}}',
    '{{#if kind}}x{{/if}}',
    '{{#if}}x{{/if}}',
    '{{#if kind}}x',
    '{{else}}',
    '{{#each events}}{{/each events}}',
  ]) {
    assert.match(problemOf(tag)!, /\{\{#if field\}\} is \{\{#field\}\},/);
  }
});

test('what a series is called is text: no tag of it is read, and it stays on its line', () => {
  const hostile = '{{#events}}{{value}}\r\nBcc: all@example.com\u202e\u0000\u2028<b>';
  const rendered = render('[{{series}}]', anomalyEvent({ series: hostile }));
  assert.equal(rendered, '[{{#events}}{{value}} Bcc: all@example.com <b>]');
});

test('a pause of a detector is described by the detector and the number of series', () => {
  const summary = 'Silence: no value of any of 1500 series';
  const pause = anomalyEvent({ kind: 'silence', detector: 'web', series: null, summary, seriesCount: 1_500 });
  const { title, text } = wordsOf(DEFAULT_WORDING, notificationOf([pause]));
  assert.equal(title, '[opened] silence in detector web');
  assert.match(text, /^\[opened\] detector web: Silence: no value of any of 1500 series\n/);
  assert.equal(render('{{series}}{{group}}{{seriesCount}}', pause), '1500');
  assert.equal(render('{{seriesCount}}', anomalyEvent()), '');
});

test('no field of an event can grow a message without a bound', () => {
  const events = Array.from({ length: 100 }, (_, i) => revisionsOf(i, { summary: 'x'.repeat(100_000) }).opened);
  const { title, text } = wordsOf(DEFAULT_WORDING, notificationOf(events));
  assert.ok(title.length <= 200);
  assert.ok(text.length <= RENDERED_CHARACTERS_MAX);
});

test('any template is parsed or refused, and a parsed one renders any event', () => {
  const piece = fc.constantFrom(
    '{{',
    '}}',
    '{{kind}}',
    '{{#kind}}',
    '{{^kind}}',
    '{{/kind}}',
    '{{#events}}',
    '{{/events}}',
    'x',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.string({ unit: 'binary' }), (pieces, series) => {
      const parsed = parseTemplate(pieces.join(''));
      if (parsed.kind === 'problem') return;
      const rendered = renderTemplate(parsed.template, notificationOf([anomalyEvent({ series })]));
      assert.doesNotMatch(rendered, /[\r\n]/);
    }),
  );
});

test('ids of 1,000 characters that differ at their ends have different titles', () => {
  const [one, other] = ['a', 'b'].map((end) => notificationOf([anomalyEvent({ series: 'x'.repeat(999) + end })]));
  assert.notEqual(wordsOf(DEFAULT_WORDING, one).title, wordsOf(DEFAULT_WORDING, other).title);
});

test('an incident has fields of its own, and those of an event that it has none of are empty', () => {
  const rendered = (source: string, changes: Parameters<typeof notifiedIncident>[0] = {}) => {
    const parsed = parseTemplate(source);
    if (parsed.kind === 'problem') throw new Error(parsed.problem);
    return renderTemplate(parsed.template, incidentNotification(notifiedIncident(changes)));
  };
  const counts = rendered('{{subject}} {{kind}} {{eventCount}}/{{seriesCount}} {{members}}');
  assert.equal(counts, 'db-1 simultaneous 40/37 host-1/cpu, host-2/cpu');
  assert.equal(
    rendered('{{#eventId}}event{{/eventId}}{{^eventId}}incident{{/eventId}} {{labels.team}}{{labels.none}}'),
    'incident platform',
  );
  assert.equal(
    rendered('{{origin2}}|{{origin3}}|{{value}}{{group}}{{unusual}}'),
    'web/errors|cart: cart/cpu is far out|',
  );
  assert.equal(rendered('{{origin1}}', { kind: 'single' }), '', 'one event has no other origin');
  const justBegan = { updatedAtMs: notifiedIncident().startedAtMs, endedAtMs: null };
  assert.equal(rendered('{{goesOn}}', justBegan), 'just began');
  assert.equal(rendered('{{subject}}{{origin1}}', { origins: [] }), 'host-1/cpu, host-2/cpu');
  assert.equal(render('{{incidentId}}{{eventCount}}{{origin1}}'), '');
});
