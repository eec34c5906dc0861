import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleFiles } from '../../../src/console/page-files.ts';

const { files, policy } = consoleFiles();
const paths = new Set(files.map(({ path }) => path));
const scripts = files.filter(({ path }) => path.endsWith('.js'));

test('every import of every module leads to a module that is served, before it in the list', () => {
  const before = new Set<string>();
  for (const { path, body } of scripts) {
    for (const [, target] of body.toString().matchAll(/\b(?:from|import)\s*["']([^"'\n]+)["']/g)) {
      assert.equal(before.has(target), true, `${path} imports ${target}`);
    }
    before.add(path);
  }
});

test('the page has nothing inline, and everything it names is served', () => {
  const page = files.find(({ path }) => path === '/console')!.body.toString();
  assert.doesNotMatch(page, /<script(?![^>]* src=)|<style| style=| on\w+=/);
  for (const [, target] of page.matchAll(/(?:src|href)="([^"]+)"/g)) assert.equal(paths.has(target), true, target);
  assert.doesNotMatch(policy, /unsafe|http|\*/);
});

test('no type, no test of a vendor and no source map is served', () => {
  for (const { path, body } of scripts) {
    const code = body.toString();
    assert.doesNotMatch(code, /^import type|^(?:export )?interface /m, path);
    assert.doesNotMatch(code, /sourceMappingURL/, path);
  }
});

test('paths change with the content; those of the page itself, and of a page for reports, do not', () => {
  const [changing, lasting] = [files.filter(({ immutable }) => immutable), files.filter(({ immutable }) => !immutable)];
  const actual = lasting.map(({ path }) => path);
  assert.deepEqual(actual, ['/console', '/console/report.html']);
  assert.equal(
    changing.every(({ path }) => /^\/console\/[0-9a-f]{12}\//.test(path)),
    true,
  );
});
