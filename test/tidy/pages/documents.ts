/** The top level and what is written in prose. */
import { existsSync, readdirSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { options } from '../../../src/config/options/options.ts';
import { IGNORED, matches, none, programs, ROOT, read, sources, texts } from '../project.ts';

const TOP_LEVEL = new Set(
  `src test deploy schemas package.json package-lock.json tsconfig.json docker-compose.yml README.md LICENSE
  CONTRIBUTING.md CHANGELOG.md findings`.split(/\s+/),
);

test('the top level holds what the layout names, and nothing else', () => {
  none(readdirSync(ROOT).filter((name) => !name.startsWith('.') && !IGNORED.has(name) && !TOP_LEVEL.has(name)));
});

test('names of metrics are defined in ops/metrics.ts alone, and others quote only names that are there', () => {
  const home = 'src/ops/metrics.ts';
  const elsewhere = new Map([...texts].filter(([path]) => path !== home && !path.startsWith('test/')));
  const code = new Map([...elsewhere].filter(([path]) => path.startsWith('src/') && path.endsWith('.ts')));
  none(matches(code, /\btidewatch_[a-z_]+/g));
  const known = new Set([...read(home).matchAll(/(?:\('|'tidewatch_)([a-z_]+)',/g)].map(([, name]) => name));
  none(
    matches(elsewhere, /\btidewatch_[a-z_]+/g).filter((found) => {
      const name = found.slice(found.lastIndexOf('tidewatch_') + 'tidewatch_'.length);
      return !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, ''));
    }),
  );
});

test('no file names a place of one machine, or a number of an issue', () => {
  none(matches(texts, /(?<![\w.@-])\/(?:home|root|Users|work|mnt)\/[\w.-]+/g));
  const prose = new Map([...texts].filter(([path]) => /\.(ts|py|md|ya?ml)$/.test(path)));
  none(matches(prose, /(?<![\w&"'(:])#\d+\b|\bGH-\d+\b|\bissues?\/\d+/g));
});

const README_LINES_MAX = 150;

test(`the README has at most ${README_LINES_MAX} lines`, () => {
  const lines = read('README.md').trimEnd().split('\n').length;
  none(lines > README_LINES_MAX ? [`README.md has ${lines} lines`] : []);
});

const pages = new Map([...texts].filter(([path]) => path.endsWith('.md')));
const withoutCode = (page: string) => page.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** Anchors of the headings of a page, as forges make them. */
function anchorsOf(page: string): Set<string> {
  const headings = [...page.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every relative link of a page leads to a file, and to a heading that is there', () => {
  none(
    [...pages].flatMap(([path, page]) =>
      [...withoutCode(page).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
        if (/^[a-z]+:/.test(link)) return [];
        const [file, anchor] = link.split('#');
        const to = file === '' ? path : posix.join(posix.dirname(path), file);
        if (!existsSync(new URL(to, ROOT))) return [`${path} links to ${link}`];
        const known = anchor === undefined || !to.endsWith('.md') || anchorsOf(read(to)).has(anchor);
        return known ? [] : [`${path} links to ${link}: there is no such heading`];
      }),
    ),
  );
});

/** A screen. */
const PAGE_LINES_MAX = 60;

test(`a page of more than ${PAGE_LINES_MAX} lines has a list of its contents`, () => {
  none(
    [...pages].flatMap(([path, page]) => {
      const isLong = page.trimEnd().split('\n').length > PAGE_LINES_MAX && path !== 'CHANGELOG.md';
      return isLong && !/^- \[.+\]\(#/m.test(page) ? [path] : [];
    }),
  );
});

test('a page names only files that are there', () => {
  const names = new Set([...programs.keys()].map((path) => posix.basename(path)));
  none(
    [...pages].flatMap(([path, page]) =>
      [...page.matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, named]) => {
        const places = [posix.join(posix.dirname(path), named), `src/${named}`, named];
        const isThere = named.includes('/') ? places.some((place) => programs.has(place)) : names.has(named);
        return isThere ? [] : [`${path} names ${named}`];
      }),
    ),
  );
});

test('the map of the code names only functions that are there', () => {
  const code = [...sources.values()].join('\n');
  const named = [...read('src/README.md').matchAll(/`(\w+)\(\)`/g)].map(([, name]) => name);
  none(named.filter((name) => !new RegExp(`function ${name}\\b|^  (?:async )?${name}\\(`, 'm').test(code)));
});

test('the README of the Kafka client lists the requests that it sends, with their versions', () => {
  const kafka = [...sources].filter(([path]) => path.startsWith('src/kafka/')).map(([, text]) => text);
  const sent = [...kafka.join('\n').matchAll(/name: '(\w+)',\s*key: \d+,\s*versions: \[([\d, ]+)\]/g)];
  const versions = new Map<string, string[]>();
  for (const [, name, listed] of sent) versions.set(name, [...(versions.get(name) ?? []), listed]);
  const rows = [...read('src/kafka/README.md').matchAll(/^\| ([A-Z]\w+) +\| ([\d, ]+?) +\|/gm)];
  const said = new Map(rows.map(([, name, listed]) => [name, listed]));
  none([...versions].flatMap(([name, all]) => (said.get(name) === all.join(', ') ? [] : [`${name} ${all}`])));
  none([...said.keys()].filter((name) => !versions.has(name)));
});

/** Of Node.js. */
const FOREIGN_VARIABLES = ['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS'];

test('no page for users quotes a variable that is not there', () => {
  const known = new Set<string | null>([...FOREIGN_VARIABLES, ...Object.values(options).map(({ env }) => env)]);
  const forUsers = [...pages].filter(([path]) => !/^CONTRIBUTING|^CHANGELOG|^test|pretraining/.test(path));
  none(
    forUsers.flatMap(([path, page]) =>
      [...page.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].flatMap(([, env]) =>
        known.has(env) ? [] : [`${path}: ${env}`],
      ),
    ),
  );
});
