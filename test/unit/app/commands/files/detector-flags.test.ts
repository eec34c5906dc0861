import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { RunnableCommand } from '../../../../../src/app/commands/command.ts';
import { detectorFlags, detectorOfFlags } from '../../../../../src/app/commands/files/detector-flags.ts';
import { parseCommandLine, readFlags } from '../../../../../src/config/command-line.ts';
import { type Kind, parseText } from '../../../../../src/config/schema/kinds.ts';
import { parseFrequency } from '../../../../../src/time/frequency.ts';

const COMMANDS = new URL('../../../../../src/app/commands/', import.meta.url);

/** Values that fit, by how a kind names what it expects, where that is not one of several words or a number. */
const SAMPLES: Readonly<Record<string, string>> = {
  'text that is not empty': 'some text',
  'true or false': 'true',
  'a format with the directives %Y or %y, %m or %b, %d, %H, %I, %p, %M, %S, %f, %z, such as "%d/%m/%Y %H:%M"':
    '%Y-%m-%d',
  'a number of at least 0 and below 100': '99.5',
  'all or an integer from 1 to 1000000': 'all',
  'off, or a rate such as 1/week, 0.5/day or 2/month': '2/month',
  'a frequency with a grid such as s, 5min, h, D, W-SUN, MS or B': '5min',
  'a duration such as 30s, 5min, 2h or 1d': '30d',
  'a time with its zone such as 2026-12-24T18:00:00+01:00': '2026-12-24T18:00:00+01:00',
  'a time zone such as Europe/Berlin or UTC': 'Europe/Berlin',
  'places whose holidays are known, such as DE or DE-BY, separated by commas': 'DE-BY,CN',
  'origins such as https://example.com, or *, separated by commas': 'https://example.com',
  'addresses or networks such as 10.0.0.0/8, separated by commas': '10.0.0.0/8',
  'brokers as host:port, separated by commas': 'a:9092,b:9092',
  'NAME=VALUE, separated by commas': 'a=b',
  'names of models, separated by commas': 'tsmodel-1',
  'GROUP=ROLE pairs separated by semicolons, such as sre=admin;*=viewer': 'sre=admin;*=viewer',
  'a glob over ids of series, or matchers of their labels': '{job="web"}',
  'an http or https URL without user and password in it': 'https://example.com',
  'an https URL, or an http URL of this machine, without user and password in it': 'https://example.com',
  'a topic name: 1 to 249 letters, digits, dots, dashes or underscores': 'topic-1',
  'at most 249 letters, digits, dots, hyphens and underscores': 'worker-1',
  '1 to 36 letters, digits, dots, dashes or underscores': 'tsmodel-1',
  'a path on this machine that ends with .parquet': 'a.parquet',
};

function sampleOf({ expected }: Kind<unknown>): string {
  const words = /^(\S+?)(?:,| or) /.exec(expected)?.[1];
  return SAMPLES[expected] ?? /^an integer from (\d+)/.exec(expected)?.[1] ?? words ?? 'no sample';
}

const files = readdirSync(COMMANDS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const commands = (await Promise.all(files.map((file) => import(new URL(file, COMMANDS).href) as Promise<object>)))
  .flatMap((module) => Object.entries(module))
  .filter((entry): entry is [string, RunnableCommand] => 'options' in Object(entry[1]) && 'run' in Object(entry[1]));

test('every flag of every command takes a value that fits', () => {
  assert.ok(commands.length > 15);
  for (const [name, command] of commands) {
    const words = (command.operands ?? []).map(() => 'word');
    for (const { flag, kind } of command.options) {
      if (flag === null) continue;
      const sample = sampleOf(kind);
      const given = `--${flag}=${sample}`;
      const args = sample === 'true' ? `--${flag}` : given;
      const line = parseCommandLine([name, ...words, args], [{ name, summary: '' }], command);
      assert.equal(line.kind, 'run', `${name} ${args}`);
      assert.notEqual(parseText(kind, sample), undefined, `${name} ${given}: ${kind.expected}`);
    }
  }
});

test('every flag of a detector makes one, alone and with the others', () => {
  const groups = { 'threshold-method': 'multivariate', 'calibration-size': '48' };
  const samples = Object.values(detectorFlags).map(({ flag, kind }) => [flag!, sampleOf(kind)] as const);
  const lines = [...samples.map((each) => [each]), samples, [...samples, ...Object.entries(groups)]];
  for (const given of lines) {
    const read = readFlags(Object.fromEntries(given), detectorFlags);
    assert.equal(read.kind, 'values', JSON.stringify([given, read]));
    if (read.kind !== 'values') continue;
    const made = detectorOfFlags(read.values, parseFrequency('h')!);
    assert.deepEqual(made.kind === 'problems' ? made.problems : [], [], JSON.stringify(given));
  }
});
