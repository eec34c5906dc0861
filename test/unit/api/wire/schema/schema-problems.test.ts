import assert from 'node:assert/strict';
import test from 'node:test';
import Type from 'typebox';
import { QueryCount, QueryTime } from '../../../../../src/api/wire/schema/query-fields.ts';
import { schemaCheck } from '../../../../../src/api/wire/schema/schema-problems.ts';
import { pageFields } from '../../../../../src/api/wire/schema/tasks/job-list-schema.ts';

const check = schemaCheck(
  Type.Object({
    series: Type.Object({
      y: Type.Array(Type.Unsafe<number | null>({ type: ['number', 'null'] })),
      sizes: Type.Array(Type.Integer({ exclusiveMinimum: 0 }), { minItems: 1 }),
    }),
    level: Type.Optional(Type.Number({ minimum: 0, exclusiveMaximum: 100 })),
    method: Type.Optional(Type.Enum(['univariate', 'multivariate'])),
    id: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
    options: Type.Optional(Type.Object({}, { additionalProperties: false })),
  }),
  'body',
);

const series = { y: [1], sizes: [1] };

test('a valid value has no problems, also with unknown fields', () => {
  assert.deepEqual(check({ series, more: [{}] }), []);
});

test('all invalid fields are reported at once, with location, bound and input', () => {
  const problems = check({
    series: { y: [1, 'a', null], sizes: [1, 2, 3, 0, 2.5] },
    level: 100,
    method: 'both',
    id: 'UP',
    options: { retries: 1 },
  });
  assert.deepEqual(problems, [
    { loc: ['body', 'series', 'y', 1], msg: 'Input should be a valid number', type: 'float_type', input: 'a' },
    {
      loc: ['body', 'series', 'sizes', 3],
      msg: 'Input should be greater than 0',
      type: 'greater_than',
      input: 0,
      ctx: { gt: 0 },
    },
    {
      loc: ['body', 'series', 'sizes', 4],
      msg: 'Input should be a valid integer, got a number with a fractional part',
      type: 'int_from_float',
      input: 2.5,
    },
    { loc: ['body', 'level'], msg: 'Input should be less than 100', type: 'less_than', input: 100, ctx: { lt: 100 } },
    {
      loc: ['body', 'method'],
      msg: "Input should be 'univariate' or 'multivariate'",
      type: 'literal_error',
      input: 'both',
      ctx: { expected: "'univariate' or 'multivariate'" },
    },
    {
      loc: ['body', 'id'],
      msg: "String should match pattern '^[a-z]+$'",
      type: 'string_pattern_mismatch',
      input: 'UP',
      ctx: { pattern: '^[a-z]+$' },
    },
    { loc: ['body', 'options', 'retries'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden', input: 1 },
  ]);
});

test('a missing field is reported at its own location; a value that is no object is reported once', () => {
  assert.deepEqual(check({ series: { y: [] } }), [
    { loc: ['body', 'series', 'sizes'], msg: 'Field required', type: 'missing' },
  ]);
  const actual = check([]).map(({ loc, type }) => ({ loc, type }));
  assert.deepEqual(actual, [{ loc: ['body'], type: 'model_attributes_type' }]);
  assert.equal(check({ series: { y: [], sizes: [] } })[0].type, 'too_short');
});

test('a number beyond the range of numbers is not finite, whether an integer is expected or any number', () => {
  for (const [wrong, loc] of [
    [{ series, level: Number.POSITIVE_INFINITY }, ['body', 'level']],
    [{ series: { y: [1], sizes: [Number.NEGATIVE_INFINITY] } }, ['body', 'series', 'sizes', 0]],
  ] as const) {
    const [problem] = check(wrong);
    assert.deepEqual([problem.loc, problem.type], [loc, 'finite_number']);
    assert.equal(problem.msg, 'Input should be a finite number, got one beyond 1.8e308');
  }
});

test('an integer in a query is asked for in words, not by its pattern', () => {
  const query = schemaCheck(
    Type.Object({ ...pageFields(200), from: QueryTime('Begin.'), limit: QueryCount('Most.', { max: 1000 }) }),
    'query',
  );
  const ask = (name: string, text: string) => query({ [name]: text }).map(({ msg }) => msg);
  for (const text of ['0', '201', 'abc', '-1', '1.5', '', '01']) {
    assert.deepEqual(ask('page_size', text), ['Input should be an integer from 1 to 200'], text);
  }
  for (const text of ['1', '99', '100', '200']) assert.deepEqual(ask('page_size', text), [], text);
  assert.deepEqual(ask('from', 'now'), ['Input should be an integer from 0 on, of at most 15 digits']);
  for (const text of ['0', '1001', '12345']) {
    assert.deepEqual(ask('limit', text), ['Input should be an integer from 1 to 1000'], text);
  }
});

test('a million invalid numbers make a hundred problems, and long inputs are not echoed', () => {
  const problems = check({ series: { y: new Array(1_000_000).fill('x'), sizes: [1] } });
  assert.equal(problems.length, 100);
  assert.equal('input' in check({ series, level: 'x'.repeat(1_000) })[0], false);
});
