/** What a file exports is what another file imports. */
import { posix } from 'node:path';
import { test } from 'node:test';
import { none, PROGRAM_NAME, programs, sources } from './project.ts';

const NAMED = /^(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/gm;
const WHOLE = /^import (?:type )?\* as (\w+) from '(\.[^']+)'/gm;
const DYNAMIC = /\bimport\('(\.[^']+)'\)/g;
const EXPORT = /^export (?:declare |abstract |async )*(function\*?|const|let|class|interface|type) (\w+)/gm;

/** `path:name` of everything that a file takes from another one. */
function namesUsed(): Set<string> {
  return new Set([...programs].flatMap(([path, text]) => namesUsedIn(path, text)));
}

function namesUsedIn(path: string, text: string): string[] {
  const used = (target: string, names: Iterable<string>) =>
    Array.from(names, (name) => `${posix.join(posix.dirname(path), target)}:${name}`);
  return [
    ...[...text.matchAll(NAMED)].flatMap(([, list, target]) => used(target, listedNames(list))),
    ...[...text.matchAll(WHOLE)].flatMap(([, space, target]) => used(target, namesOfSpace(text, space))),
    // What it takes is said anywhere behind it: as a property, or as a part of what is awaited.
    ...[...text.matchAll(DYNAMIC)].flatMap(([, target]) => used(target, text.match(/\w+/g) ?? [])),
  ];
}

function listedNames(list: string): string[] {
  return list.split(',').map((name) =>
    name
      .trim()
      .replace(/^type /, '')
      .replace(/ as .*/, ''),
  );
}

/** `*` where the module is handed on as a value: then all constants of it may be used. */
function namesOfSpace(text: string, space: string): string[] {
  const uses = text.replace(WHOLE, '').matchAll(new RegExp(`(?<![\\w.'])${space}\\b(?:\\.(\\w+))?`, 'g'));
  return Array.from(uses, ([, name]) => name ?? '*');
}

test('what a file exports is imported by another one', () => {
  const used = namesUsed();
  none(
    [...sources].flatMap(([path, text]) =>
      [...text.matchAll(EXPORT)]
        .filter(([, kind, name]) => !used.has(`${path}:${name}`) && !(kind === 'const' && used.has(`${path}:*`)))
        .filter(([, , name]) => name !== PROGRAM_NAME)
        .map(([, , name]) => `${path} exports ${name}, which no other file imports`),
    ),
  );
});
