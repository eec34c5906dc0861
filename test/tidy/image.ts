/** What platform teams ask of an image. It is not built here. */
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { none, ROOT, read } from './project.ts';

const text = read('deploy/Dockerfile').replaceAll('\\\n', ' ');
const stages = text.split(/^(?=FROM )/m).slice(1);
const last = stages.at(-1) ?? '';
const lines = (of: string, instruction: string) => of.match(new RegExp(`^ *${instruction} .*`, 'gm')) ?? [];

test('the image has what runs and no tool of developers, and no user but an unprivileged one', () => {
  const wanted: Readonly<Record<string, boolean>> = {
    'packages are installed in a stage of their own': stages.length === 2 && !/npm (?:ci|install)/.test(last),
    'without those of developers, and without their scripts': /npm ci --omit=dev --ignore-scripts/.test(stages[0]),
    'of the major version that package.json asks for': lines(text, 'FROM').every((from) => / node:24-slim/.test(from)),
    'a user with a number that is not root': /^USER [1-9]\d*:[1-9]\d*$/.test(lines(last, 'USER').at(-1) ?? ''),
    'a healthcheck': lines(last, 'HEALTHCHECK').length === 1,
    'the process receives signals itself': /^CMD \["node", /.test(lines(last, 'CMD').at(-1) ?? ''),
  };
  none(Object.keys(wanted).filter((what) => !wanted[what]));
});

test('what the image copies is there, and is no ignored file', () => {
  const ignored = read('.dockerignore').split('\n');
  const copied = lines(text, 'COPY').filter((line) => !line.includes('--from='));
  const sources = copied.flatMap((line) => line.trim().split(/\s+/).slice(1, -1));
  none(sources.filter((source) => !existsSync(new URL(source, ROOT)) || !ignored.includes(`!${source}`)));
});
