/** What validators and generators of other languages make of the schemas. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { none, ROOT, read } from './project.ts';

type Json = Readonly<Record<string, unknown>>;

const schemas = readdirSync(new URL('schemas/', ROOT)).filter((name) => name.endsWith('.json'));

/** Every object of a document, with its place. */
function* objectsOf(value: unknown, place: string): Generator<readonly [place: string, object: Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Json];
  for (const [key, inner] of Object.entries(value)) yield* objectsOf(inner, `${place}/${key}`);
}

const all = schemas.flatMap((name) => [...objectsOf(JSON.parse(read(`schemas/${name}`)), name)]);

/** Lookarounds, classes such as `\d`, properties of Unicode, empty sets, groups that do not capture. */
const NOT_PORTABLE = /\(\?|\\[dDwWsSbBpPkcuN0-9]|\[\^?\]/;

test('patterns of schemas are of the subset that JSON Schema recommends for all languages', () => {
  const patterns = all.flatMap(([place, { pattern }]) => (typeof pattern === 'string' ? [[place, pattern]] : []));
  assert.ok(patterns.length > 20);
  none(patterns.filter(([, pattern]) => NOT_PORTABLE.test(pattern)).map((each) => each.join(': ')));
});

const properties = all.flatMap(([place, { properties: own }]) => {
  return typeof own === 'object' && own !== null ? [[place, own as Json] as const] : [];
});

test('no two properties differ in case or underscores alone: generated clients have one name for both', () => {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '');
  none(
    properties.flatMap(([place, own]) => {
      const names = Object.groupBy(Object.keys(own), plain);
      return Object.values(names).flatMap((same = []) => (same.length > 1 ? [`${place}: ${same.join(', ')}`] : []));
    }),
  );
});

test('no property is null alone: generators have no type for it', () => {
  none(
    properties.flatMap(([place, own]) =>
      Object.entries(own).flatMap(([name, schema]) => ((schema as Json).type === 'null' ? [`${place}: ${name}`] : [])),
    ),
  );
});
