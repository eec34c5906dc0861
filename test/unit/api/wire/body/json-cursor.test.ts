import assert from 'node:assert/strict';
import test from 'node:test';
import { JsonCursor, JsonSyntaxError } from '../../../../../src/api/wire/body/json-cursor.ts';
import { fc } from '../../../../fixture/fast-check.ts';

/** The value as the cursor reads it. */
function read(cursor: JsonCursor): unknown {
  switch (cursor.kind()) {
    case 'object': {
      const fields = new Map<string, unknown>();
      cursor.fields((name) => fields.set(name, read(cursor)));
      return Object.fromEntries(fields);
    }
    case 'array': {
      const items: unknown[] = [];
      cursor.items(() => items.push(read(cursor)));
      return items;
    }
    case 'string':
      return cursor.readString();
    case 'number':
      return cursor.readNumber();
    case 'boolean':
      return cursor.readBoolean();
    case 'null':
      return cursor.readNull();
  }
}

function outcome(make: () => unknown): unknown {
  try {
    return { value: make() };
  } catch (error) {
    assert.ok(error instanceof JsonSyntaxError || error instanceof SyntaxError, String(error));
    return 'invalid';
  }
}

function assertLikeJsonParse(text: string): void {
  const bytes = Buffer.from(text);
  const parsed = outcome(() => JSON.parse(bytes.toString()));
  const whole = (use: (cursor: JsonCursor) => unknown) => () => {
    const cursor = new JsonCursor(bytes);
    const value = use(cursor);
    cursor.end();
    return value;
  };
  assert.deepEqual(outcome(whole(read)), parsed, text);
  const skipped = outcome(whole((cursor) => cursor.skipValue()));
  assert.equal(skipped === 'invalid', parsed === 'invalid', text);
}

const spaced = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }).map((value) => JSON.stringify(value, null, ' \t'));

test('a value is read and skipped as JSON.parse reads it', () => {
  fc.assert(fc.property(spaced, assertLikeJsonParse));
});

test('a damaged text is refused exactly where JSON.parse refuses it', () => {
  const pieces = fc.constantFrom(
    ...'{}[],:"\\-+.eE0123456789 \nu',
    'true',
    'null',
    'false',
    '\u0001',
    '\\u00e4',
    '"a"',
  );
  const edits = fc.tuple(spaced, fc.nat(), fc.nat(3), pieces).map(([text, at, dropped, piece]) => {
    const place = at % (text.length + 1);
    return text.slice(0, place) + piece + text.slice(place + dropped);
  });
  fc.assert(fc.property(edits, assertLikeJsonParse), { numRuns: 3_000 });
  fc.assert(
    fc.property(
      fc.array(pieces, { maxLength: 8 }).map((all) => all.join('')),
      assertLikeJsonParse,
    ),
    {
      numRuns: 5_000,
    },
  );
});

test('a number has the double that JSON.parse gives it, however it is written', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 });
  const exponent = fc.oneof(
    fc.constant(''),
    fc.integer({ min: -400, max: 400 }).map((power) => `e${power}`),
  );
  const written = fc.tuple(fc.boolean(), digits, fc.option(digits), exponent).map(([negative, whole, part, power]) => {
    const integer = whole.replace(/^0+(?=\d)/, '');
    return `${negative ? '-' : ''}${integer}${part === null ? '' : `.${part}`}${power}`;
  });
  const same = (text: string) =>
    assert.ok(Object.is(new JsonCursor(Buffer.from(text)).readNumber(), JSON.parse(text)), text);
  fc.assert(fc.property(written, same), { numRuns: 5_000 });
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }).map(JSON.stringify), same), {
    numRuns: 2_000,
  });
});

test('nesting costs a bit per level, not a call', () => {
  const depth = 2_000_000;
  const cursor = new JsonCursor(Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`));
  cursor.skipValue();
  cursor.end();
});
