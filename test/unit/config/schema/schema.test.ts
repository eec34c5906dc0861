import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { routesSchema } from '../../../../src/alerts/routes/routes-file.ts';
import { detectorsSchema, readDetectorsFile } from '../../../../src/config/detectors-file.ts';
import { readRoutes } from '../../../fixture/alerts/routes.ts';

const root = new URL('../../../../', import.meta.url);

const FILES = {
  detectors: {
    schema: detectorsSchema.schema,
    examples: ['deploy/detectors.example.yaml', 'deploy/demo.detectors.yaml'],
  },
  routes: { schema: routesSchema.schema, examples: ['deploy/alerts.example.yaml'] },
} as const;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly description?: string;
}

/** Every key with its schema, those of nested mappings, too. */
function keysOf({ properties = {}, items, anyOf = [] }: Schema): readonly (readonly [string, Schema])[] {
  const below = [...(items === undefined ? [] : [items]), ...anyOf].flatMap(keysOf);
  return [
    ...Object.entries(properties).flatMap(([key, schema]) => [[key, schema] as const, ...keysOf(schema)]),
    ...below,
  ];
}

for (const [name, { schema, examples }] of Object.entries(FILES)) {
  test(`${name}: the examples fit the schema, name it for editors, and explain every key`, () => {
    const validate = schemaOf(name);
    for (const example of examples) {
      const text = readFileSync(new URL(example, root), 'utf8');
      assert.ok(validate(parse(text)), JSON.stringify(validate.errors));
      assert.equal(text.split('\n')[0], `# yaml-language-server: $schema=../schemas/${name}.schema.json`);
    }
    const text = readFileSync(new URL(examples[0], root), 'utf8');
    const keys = keysOf(schema as Schema);
    assert.ok(keys.length > 40, `only ${keys.length} keys`);
    // A secret is explained by one of its places.
    const explained = keys.map(([key]) => key.replace(/_(env|file)$/, '(?:_env|_file)?'));
    for (const key of explained) assert.match(text, new RegExp(`^[ #-]*(?:.*[{,(] ?|.* or )?${key}\\b`, 'm'), key);
  });

  test(`${name}: every key has a description that is a sentence`, () => {
    const without = keysOf(schema as Schema).filter(([, { description }]) => !/\S.*[.`\d]$/.test(description ?? ''));
    const undescribed = without.map(([key]) => key);
    assert.deepEqual(undescribed, []);
  });
}

function schemaOf(name: string): ValidateFunction {
  const schema = JSON.parse(readFileSync(new URL(`schemas/${name}.schema.json`, root), 'utf8'));
  return new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
}

const DETECTOR = { name: 'a', series: '*', freq: 'h', h: 24, detection_size: 24 };
const HOOK = { name: 'hook', webhook: { url: 'https://example.com/in' } };
const ROUTE = { name: 'all', receivers: 'hook' };

/** Files that an editor marks: what the schema refuses, the reader refuses, and reversed. */
const REFUSED: readonly (readonly [keyof typeof FILES, unknown])[] = [
  ['detectors', {}],
  ['detectors', { detectors: [] }],
  ['detectors', { detectors: [{ ...DETECTOR, h: '24' }] }],
  ['detectors', { detectors: [{ ...DETECTOR, h: 0 }] }],
  ['detectors', { detectors: [{ ...DETECTOR, series: [] }] }],
  ['detectors', { detectors: [{ ...DETECTOR, level: 100 }] }],
  ['detectors', { detectors: [{ ...DETECTOR, stepsize: 24 }] }],
  ['detectors', { detectors: [{ ...DETECTOR, calibration_size: 'most' }] }],
  ['detectors', { detectors: [{ ...DETECTOR, idle_limit: 'soon' }] }],
  ['detectors', { detectors: [{ ...DETECTOR, labels: { 'a b': 'c' } }] }],
  ['detectors', { detectors: [{ ...DETECTOR, events: { valid_range: {} } }] }],
  ['detectors', { detectors: [{ ...DETECTOR, events: { quiet: [{ from: '2:00', time_zone: 'UTC' }] } }] }],
  ['detectors', { detectors: [DETECTOR], topics: null }],
  ['detectors', { detectors: [DETECTOR], worker: { series_max: 0 } }],
  ['routes', { receivers: [HOOK] }],
  ['routes', { receivers: [{ ...HOOK, timout: '3s' }], routes: [ROUTE] }],
  ['routes', { receivers: [HOOK], routes: [{ ...ROUTE, match: { kind: 'spikes' } }] }],
  ['routes', { receivers: [HOOK], routes: [{ ...ROUTE, match: { labels: { team: 3 } } }] }],
  ['routes', { receivers: [HOOK], routes: [{ ...ROUTE, escalate: [{ after: '1min', receivers: 'hook' }] }] }],
  ['routes', { receivers: [{ name: 'mail', email: { host: 'a', to: 'a@b.c' } }], routes: [ROUTE] }],
];

function problemsOf(name: keyof typeof FILES, content: string): readonly string[] {
  if (name === 'routes') return readRoutes(content).problems;
  const problems: string[] = [];
  readDetectorsFile('d.yaml', content, problems);
  return problems;
}

for (const [name, file] of REFUSED) {
  const content = JSON.stringify(file);
  test(`the schema and the reader both refuse the ${name} ${content}`, () => {
    assert.equal(schemaOf(name)(file), false);
    assert.notEqual(problemsOf(name, content).length, 0);
  });
}

test('the schema and the reader both take a file with the required keys alone', () => {
  for (const [name, file] of [
    ['detectors', { detectors: [DETECTOR] }],
    ['routes', { receivers: [HOOK], routes: [ROUTE] }],
  ] as const) {
    assert.equal(schemaOf(name)(file), true);
    assert.deepEqual(problemsOf(name, JSON.stringify(file)), []);
  }
});
