import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DetectorsFile, readDetectorsFile } from '../../../src/config/detectors-file.ts';
import { DEPENDENCIES_MAX } from '../../../src/config/keys/dependency-keys.ts';
import { NO_RULES } from '../../../src/detection/event/open/event-rules.ts';

const ENTRY = 'name: a, series: "*", freq: h, h: 24, detection_size: 24';

function read(content: string): { readonly file: DetectorsFile | null; readonly problems: readonly string[] } {
  const problems: string[] = [];
  return { file: readDetectorsFile('d.yaml', content, problems), problems };
}

test('a detector with only the required keys has every default', () => {
  const { file, problems } = read(`detectors: [{ ${ENTRY} }]`);
  assert.deepEqual(problems, []);
  const { settings, ...detector } = file!.stream.detectors[0];
  const unruled = { events: NO_RULES, labels: {}, unit: null, timezone: null };
  assert.deepEqual(detector, {
    name: 'a',
    series: ['*'],
    group: null,
    by: null,
    model: 'tsmodel-1-detection',
    ...unruled,
    isSpread: true,
  });
  const { freq, ...lengths } = settings;
  assert.equal(freq.alias, 'h');
  assert.deepEqual(lengths, {
    h: 24,
    detectionSize: 24,
    stepSize: 24,
    level: 99,
    thresholdMethod: 'univariate',
    calibration: 'robust',
    alarmRate: 0.001,
    calibrationSize: 288,
    context: null,
    gapLimit: null,
    jitterMs: 1_800_000,
    latenessMs: 0,
    silenceAfter: 5,
    idleMs: null,
    grace: 1,
    profile: { calendar: { offsets: [], specialDays: [] }, stepMs: 3_600_000 },
  });
});

test('hints about what depends on what are one or a list, and a problem names its field', () => {
  const hint = '{ labels: { service: web }, on: { service: db, env: prod } }';
  const one = read(`depends_on: ${hint}\ndetectors: [{ ${ENTRY} }]`);
  assert.deepEqual(one.problems, []);
  assert.deepEqual(one.file!.dependsOn, [{ labels: { service: 'web' }, on: { service: 'db', env: 'prod' } }]);
  assert.deepEqual(read(`detectors: [{ ${ENTRY} }]`).file!.dependsOn, []);
  const problemsOf = (hints: string) => read(`depends_on: ${hints}\ndetectors: [{ ${ENTRY} }]`).problems;
  assert.deepEqual(problemsOf('[{ labels: {}, on: { a: b, c: 1 }, why: x }, { labels: { a: b }, on: { a: b } }, 7]'), [
    'd.yaml:1: depends_on[0].on.c must be text of 1 to 256 characters, got 1',
    'd.yaml:1: depends_on[0].why is not a known key',
    'd.yaml:1: depends_on[0].labels must be a mapping of 1 to 16 labels, got "an empty mapping"',
    'd.yaml:1: depends_on[1].on must be other labels than labels, got "the same"',
    'd.yaml:1: depends_on[2] must be a mapping, got 7',
  ]);
  assert.match(problemsOf('{ labels: { a: b } }')[0], /depends_on\.on must be a mapping/);
  const many = Array.from({ length: DEPENDENCIES_MAX + 1 }, (_, i) => `{ labels: { a: b }, on: { a: "${i}" } }`);
  assert.match(problemsOf(`[${many.join()}]`)[0], /depends_on must be at most 1000 hints/);
});

test('the calendar of the seasonal profile is resolved, and the profile can be off', () => {
  const { file, problems } = read(`detectors:
    - { ${ENTRY}, timezone: Europe/Berlin, special_days: [{ dates: 2026-12-24, like: sat }] }
    - { ${ENTRY.replace('name: a', 'name: b')}, profile: off }`);
  assert.deepEqual(problems, []);
  const [berlin, off] = file!.stream.detectors.map(({ settings }) => settings.profile);
  assert.deepEqual(berlin!.calendar.specialDays, [[Date.parse('2026-12-24') / 86_400_000, 5]]);
  assert.deepEqual(berlin!.calendar.offsets.at(-1), [Date.parse('2059-10-26T01:00:00Z'), 3_600_000]);
  assert.equal(off, null);
  const bavaria = read(
    `detectors: [{ ${ENTRY}, holidays: [DE-BY], special_days: [{ dates: 2026-05-14, like: sat }] }]`,
  );
  const days = new Map(bavaria.file!.stream.detectors[0].settings.profile!.calendar.specialDays);
  const on = (date: string) => days.get(Date.parse(date) / 86_400_000);
  assert.deepEqual([on('2026-01-06'), on('2026-05-14'), on('2026-05-15')], [6, 5, undefined]);
  assert.match(read(`detectors: [{ ${ENTRY}, holidays: XX }]`).problems[0], /holidays must be a country whose/);
  const twice = read(
    `detectors: [{ ${ENTRY}, special_days: [{ dates: 05-14, like: sat }, { dates: [05-13, 05-14], like: sun }] }]`,
  );
  assert.equal(twice.problems.length, 1);
  assert.match(twice.problems[0], /special_days\[1\]\.dates must .*"05-14", which is in .*special_days\[0\], too/);
  const wrong = read(
    `detectors: [{ ${ENTRY}, timezone: Berlin, special_days: [{ dates: 2026-02-30, like: Sunday }] }]`,
  );
  assert.deepEqual(wrong.problems.map((problem) => problem.match(/\.(timezone|dates|like)/)?.[1]).sort(), [
    'dates',
    'like',
    'timezone',
  ]);
});

test('series are chosen by globs, or by matchers of labels that can be read', () => {
  const { file, problems } = read(`detectors: [{ ${ENTRY.replace('"*"', `['{job=~"web-.*"}', "db/*"]`)} }]`);
  assert.deepEqual(problems, []);
  assert.deepEqual(file!.stream.detectors[0].series, ['{job=~"web-.*"}', 'db/*']);
  const wrong = read(`detectors: [{ ${ENTRY.replace('"*"', `'{job=~"web-[0-9]"}'`)} }]`);
  assert.equal(wrong.problems.length, 1);
  assert.match(wrong.problems[0], /detectors\[0\]\.series must be matchers .* job=~"web-\[0-9\]" has "\["/);
});

test('labels make the groups of a multivariate detector, and some are dropped', () => {
  const { file, problems } = read(`
    input: { drop_labels: replica, id: '{job}/{__name__}' }
    detectors: [{ ${ENTRY}, threshold_method: multivariate, by: [instance, job] }]`);
  assert.deepEqual(problems, []);
  assert.deepEqual(file!.stream.detectors[0].by, ['instance', 'job']);
  assert.deepEqual(file!.stream.input.dropLabels, ['replica']);
  assert.equal(file!.stream.input.idTemplate, '{job}/{__name__}');
  assert.match(
    read('input: { id: job }').problems[0],
    /input\.id must be a text with labels in braces such as .*, got "job"/,
  );
  const wrong = (keys: string) =>
    read(`detectors: [{ ${ENTRY}, ${keys} }]`).problems.map((one) => one.replace(/^d.yaml:1: /, ''));
  assert.deepEqual(wrong('by: job'), [
    'detectors[0].by must be absent, because threshold_method is univariate, got "job"',
  ]);
  const both = 'threshold_method: multivariate, group: a, by: job';
  assert.deepEqual(wrong(both), ['detectors[0].by must be absent, because group is set, got "job"']);
  assert.match(
    wrong('threshold_method: multivariate')[0],
    /group must be the path of the group id \(or by with labels\)/,
  );
  assert.match(
    read('input: { drop_labels: [replica, __name__] }\ndetectors: []').problems[0],
    /input\.drop_labels.* must be labels without __name__, .* got /,
  );
  assert.match(read('input: { drop_label: a }\ndetectors: []').problems[0], /did you mean drop_labels/);
  assert.match(
    read('input: { drop_labels: [a], replica_label: a }\ndetectors: []').problems[0],
    /input\.replica_label.* must be a label that is not in drop_labels, got "a"/,
  );
});

test('topics, mapping, output and several globs are read', () => {
  const { file, problems } = read(`
    topics: { observations: in, scores: out, events: told, changelog: state, dead_letters: lost }
    input: { format: protobuf, series: [$.a, 'b["c.d"]'], time: t, time_unit: ns, value: 'v[0].x', future_limit: 5min }
    output: { format: json-schema, compression: zstd, timestamps: processing-time, headers: [traceparent] }
    detectors: [{ ${ENTRY.replace('"*"', '[x, "y*"]')}, calibration_size: all }]`);
  assert.deepEqual(problems, []);
  const { topics, input, output, detectors } = file!.stream;
  assert.deepEqual(topics, {
    observations: 'in',
    scores: 'out',
    events: 'told',
    changelog: 'state',
    deadLetters: 'lost',
  });
  assert.deepEqual(input, {
    format: 'protobuf',
    series: ['$.a', 'b["c.d"]'],
    time: 't',
    timeUnit: 'ns',
    value: 'v[0].x',
    repartition: false,
    keyedBy: 'series',
    futureMsMax: 300_000,
    dropLabels: [],
    idTemplate: null,
  });
  assert.deepEqual(output, {
    format: 'json-schema',
    compression: 'zstd',
    timestamps: 'processing-time',
    headers: ['traceparent'],
  });
  assert.deepEqual(detectors[0].series, ['x', 'y*']);
  assert.equal(detectors[0].settings.calibrationSize, 'all');
});

test('records of many observations are re-keyed, and name series and times themselves', () => {
  const input = (text: string) => {
    const { file, problems } = read(`input: { ${text} }\ndetectors: [{ ${ENTRY} }]`);
    return { problems, ...file?.stream.input };
  };
  for (const format of ['otlp', 'prometheus', 'influx']) {
    const { problems, repartition, timeUnit } = input(`format: ${format}`);
    assert.deepEqual([problems, repartition, timeUnit], [[], true, format === 'influx' ? 'ns' : 'ms']);
  }
  assert.equal(input('format: influx, time_unit: s').timeUnit, 's');
  const several = input('series: name, labels: tags, values: [fields, extra.load]');
  assert.deepEqual([several.problems, several.repartition, several.labels], [[], true, 'tags']);
  assert.equal(input('labels: tags').repartition, false);
  const wrong = input('format: otlp, series: a, values: b, time_unit: s, repartition: false, key: other');
  assert.deepEqual(wrong.problems.map((problem) => problem.replace(/^.*?input/, 'input')).sort(), [
    'input.key must be left out: each value gets its series as key',
    'input.repartition must be true if a record has many values',
    'input.series must be left out: records of format otlp have their own',
    'input.time_unit must be left out: records of format otlp have their own',
    'input.values must be left out: records of format otlp have their own',
  ]);
  assert.match(input('format: influx, time_unit: iso').problems[0], /time_unit must be one of s, ms, us, ns/);
  assert.match(input('value: a, values: b').problems[0], /input.value must be left out if .*values is set/);
});

test('anchors and aliases are resolved', () => {
  const { file, problems } = read(
    `detectors:\n  - &first { ${ENTRY}, level: &level 90 }\n  - { ${ENTRY.replace('a,', 'b,')}, level: *level }`,
  );
  assert.deepEqual(problems, []);
  assert.equal(file!.stream.detectors[1].settings.level, 90);
});

/** More of a detector, or a whole file, and the one sentence it must give. */
const WRONG_ENTRY: Readonly<Record<string, string>> = {
  'h: 25': 'detectors[0].h must be at most detection_size (24), got 25',
  'h: soon': 'detectors[0].h must be an integer from 1 to 10000, got "soon"',
  'h: "24"': 'detectors[0].h must be an integer from 1 to 10000, got "24"',
  'step_size: 7': 'detectors[0].detection_size must be a multiple of step_size (7), got 24',
  'step_size: 0': 'detectors[0].step_size must be an integer from 1 to 10000, got 0',
  'level: 100': 'detectors[0].level must be a number of at least 0 and below 100, got 100',
  'level: .nan': 'detectors[0].level must be a number of at least 0 and below 100, got NaN',
  'freq: bh': 'detectors[0].freq must be a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B, got "bh"',
  'freq:': 'detectors[0].freq must be a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B, got nothing',
  'series: []':
    'detectors[0].series must be a glob over ids of series, or matchers of their labels, or a list of such, got an empty list',
  'series: [a, 5]': 'detectors[0].series[1] must be text that is not empty, got 5',
  'name: a/b': 'detectors[0].name must be 1 to 64 letters, digits, dots, dashes or underscores, got "a/b"',
  'calibration_size: 143': 'detectors[0].calibration_size must be at least 6 x detection_size (144), got 143',
  'calibration_size: most': 'detectors[0].calibration_size must be all or an integer from 1 to 1000000, got "most"',
  'threshold_method: both': 'detectors[0].threshold_method must be univariate or multivariate, got "both"',
  'threshold_method: multivariate':
    'detectors[0].group must be the path of the group id (or by with labels), because threshold_method is multivariate, got nothing',
  'threshold_method: multivariate, group: g, calibration_size: all':
    'detectors[0].calibration_size must be an integer from 1 to 1000000, because threshold_method is multivariate, got "all"',
  'group: g': 'detectors[0].group must be absent, because threshold_method is univariate, got "g"',
  'group: a..b, threshold_method: multivariate':
    'detectors[0].group must be a path such as value, tags.host or points[0].value, got "a..b"',
  'context: 15': 'detectors[0].context must be an integer from 16 to 1000000, got 15',
  'gap_limit: -1': 'detectors[0].gap_limit must be an integer from 0 to 1000000, got -1',
  'grace: 1.5': 'detectors[0].grace must be an integer from 0 to 1000, got 1.5',
  'allowed_lateness: 3d': 'detectors[0].allowed_lateness must be at most 64 steps of h, got "259200s"',
  'idle_limit: 5h':
    'detectors[0].idle_limit must be at least 21600s, because of silence_after or allowed_lateness, got "18000s"',
  'model: ../x': 'detectors[0].model must be 1 to 36 letters, digits, dots, dashes or underscores, got "../x"',
  'direction: up': 'detectors[0].direction is not a known key; did you mean events.direction?',
  'stepsize: 24': 'detectors[0].stepsize is not a known key; did you mean step_size?',
};

for (const [more, sentence] of Object.entries(WRONG_ENTRY)) {
  test(`a detector with ${more} gives one sentence, with its line`, () => {
    const written = more.split(':')[0];
    const entry = ENTRY.split(', ').filter((pair) => !pair.startsWith(`${written}:`));
    const { problems } = read(`\ndetectors:\n  - { ${[...entry, more].join(', ')} }`);
    assert.deepEqual(problems, [`d.yaml:3: ${sentence}`]);
  });
}

const WRONG_FILE: Readonly<Record<string, RegExp>> = {
  '': /^d\.yaml must be a mapping, got nothing$/,
  '- a': /^d\.yaml must be a mapping, got a list$/,
  'topics: {}': /^d\.yaml:1: detectors must be a list of at least one mapping, got nothing$/,
  'detectors: []': /^d\.yaml:1: detectors must be a list of at least one mapping, got an empty list$/,
  'detectors: [5]': /^d\.yaml:1: detectors\[0\] must be a mapping, got 5$/,
  'detectors: [': /^d\.yaml:1: /,
  'detectors: *all': /^d\.yaml:1: alias \*all refers to nothing above it; text that begins with \* must be in quotes/,
  'detectors: &all [*all]': /^d\.yaml:1: alias \*all refers to a value that contains it$/,
  'a: 1\na: 2': /^d\.yaml:2: .*unique/,
  [`topics:\ndetectors: [{ ${ENTRY} }]`]: /topics must be a mapping, got nothing$/,
  [`topics: { scores: observations }\ndetectors: [{ ${ENTRY} }]`]:
    /^d\.yaml:1: topics\.scores must be another topic than topics\.observations, got "observations"$/,
  [`topics: { scores: .. }\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: topics\.scores must be a topic name/,
  [`input: { time_unit: m }\ndetectors: [{ ${ENTRY} }]`]:
    /^d\.yaml:1: input\.time_unit must be s, ms, us, ns or iso, got "m"$/,
  [`input: { series: a b. }\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: input\.series must be a path/,
  [`input: { future_limit: soon }\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: input\.future_limit must be a duration/,
  [`output: { format: protobuf }\ndetectors: [{ ${ENTRY} }]`]:
    /^d\.yaml:1: output\.format must be json, avro or json-schema/,
  [`worker: { series: 5 }\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: worker\.series is not a known key/,
  [`worker: { series_max: 0 }\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: worker\.series_max must be an integer from 1/,
  [`detector: []\ndetectors: [{ ${ENTRY} }]`]: /^d\.yaml:1: detector is not a known key; did you mean detectors\?$/,
  [`detectors: [{ ${ENTRY} }, { ${ENTRY} }]`]: /^d\.yaml:1: detectors\[1\]\.name must be a name of its own, got "a"$/,
};

for (const [content, sentence] of Object.entries(WRONG_FILE)) {
  test(`the file ${JSON.stringify(content)} gives one sentence`, () => {
    const { problems } = read(content);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0], sentence);
  });
}
