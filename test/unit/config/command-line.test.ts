import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, type ListedCommand, parseCommandLine, readFlags } from '../../../src/config/command-line.ts';
import { commandFlag } from '../../../src/config/options/option.ts';
import { kafkaOptions } from '../../../src/config/options/options.ts';
import { integerFrom, text } from '../../../src/config/schema/kinds.ts';

const rate = commandFlag('rate', integerFrom(1, 1_000), 'observations a second', 100);
const file = { env: null, flag: 'file', kind: text, help: 'file to read' };
const { brokers, saslPassword, tls } = kafkaOptions;

const COMMANDS: readonly (ListedCommand & Command)[] = [
  { name: 'worker', summary: 'Scores observations', options: [brokers, saslPassword, tls] },
  { name: 'feed', summary: 'Writes observations', options: [brokers, rate, file] },
  { name: 'topics', summary: 'Makes topics', operands: ['ACTION', '[NAME]'], options: [] },
];

function parse(line: string) {
  const args = line === '' ? [] : line.split(' ');
  return parseCommandLine(args, COMMANDS, COMMANDS.find(({ name }) => name === args[0]) ?? null);
}

test('a command line has a command, operands and flags', () => {
  const line = parse('topics make observations');
  assert.equal(line.kind, 'run');
  assert.deepEqual([line.command.name, line.operands, line.flags], ['topics', ['make', 'observations'], {}]);
  const feed = parse('feed --rate 5 --kafka-brokers=a:1');
  assert.equal(feed.kind, 'run');
  assert.deepEqual(feed.flags, { rate: '5', 'kafka-brokers': 'a:1' });
});

test('a flag that is true or false needs no value', () => {
  for (const [line, tls] of [
    ['worker --kafka-tls', true],
    ['worker --kafka-tls=false', 'false'],
  ] as const) {
    const result = parse(line);
    assert.equal(result.kind, 'run');
    assert.deepEqual(result.flags, { 'kafka-tls': tls });
  }
});

const WRONG: Readonly<Record<string, readonly string[]>> = {
  wokrer: ['wokrer is not a known command; did you mean worker?'],
  tpoics: ['tpoics is not a known command; did you mean topics?'],
  wroker: ['wroker is not a known command; did you mean worker?'],
  'worker --kafka-broker a:1': [
    '--kafka-broker is not a known flag; did you mean --kafka-brokers?',
    '"a:1" is one word too many',
  ],
  'worker --rate=5': ['--rate is not a known flag'],
  'worker --kafka-sasl-password=x': ['--kafka-sasl-password is not a known flag'],
  'worker -x': ['-x is not a known flag'],
  'feed --rate': ['--rate must have a value'],
  'feed --rate --file x': ['--rate must have a value', '"x" is one word too many'],
  'feed --rate 1 --rate 2': ['--rate is given twice'],
  topics: ['ACTION is missing'],
  'topics make a b': ['"b" is one word too many'],
};

for (const [line, problems] of Object.entries(WRONG)) {
  test(`${line}: ${problems.join('; ')}`, () => {
    assert.deepEqual(parse(line), { kind: 'wrong-use', problems });
  });
}

test('no command, and --help, list the commands', () => {
  for (const line of ['', '--help', '-h']) {
    const help = parse(line);
    assert.equal(help.kind, 'help');
    assert.match(help.text, /^ {2}worker {2}Scores observations$/m);
  }
});

test('--help of a command lists its settings, with variable and default', () => {
  for (const line of ['feed --help', 'feed -h', 'feed --help --nonsense']) {
    const help = parse(line);
    assert.equal(help.kind, 'help');
    assert.match(help.text, /^npm start -- feed \[--flags\]$/m);
    assert.match(help.text, /^ {2}--kafka-brokers +KAFKA_BROKERS +brokers as host:port/m);
    assert.match(help.text, /^ {2}--rate +observations a second \(100\)$/m);
  }
  const worker = parse('worker --help');
  assert.equal(worker.kind, 'help');
  assert.match(worker.text, /^ +KAFKA_SASL_PASSWORD +password/m);
  const topics = parse('topics --help');
  assert.equal(topics.kind, 'help');
  assert.equal(topics.text, 'npm start -- topics ACTION [NAME]\n\nMakes topics.');
});

test('--help of a command with many settings lists what one needs first, --help all the others as well', () => {
  const many = { options: [...Object.values(kafkaOptions), rate] };
  const help = (...words: string[]) => {
    const line = parseCommandLine(['feed', ...words], [{ name: 'feed', summary: 'x', example: 'a.csv' }], many);
    return line.kind === 'help' ? line.text : '';
  };
  assert.match(help('--help'), /^Example: npm start -- feed a\.csv$/m);
  assert.deepEqual(help('--help').match(/^ {2}--\S+/gm), ['  --kafka-brokers', '  --rate']);
  assert.match(help('--help'), new RegExp(`--help all lists ${many.options.length - 2} more`));
  assert.match(help('--help', 'all'), /--kafka-tls-key/);
  assert.doesNotMatch(help('--help', 'all'), /more\.$/);
});

test("a command's own flags are read by their kinds, with every problem at once", () => {
  assert.deepEqual(readFlags({ rate: '7' }, { rate, file }), { kind: 'values', values: { rate: 7, file: undefined } });
  assert.deepEqual(readFlags({}, { rate }), { kind: 'values', values: { rate: 100 } });
  assert.deepEqual(readFlags({ rate: '0', file: ' ' }, { rate, file }), {
    kind: 'problems',
    problems: ['--rate must be an integer from 1 to 1000, got "0"', '--file must be text that is not empty, got " "'],
  });
});
