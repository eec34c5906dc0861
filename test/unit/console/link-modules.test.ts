import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { linkModules } from '../../../src/console/link-modules.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

test('a service in a folder whose name has blanks or letters beyond ASCII ended as it linked its page', () => {
  const folder = freshFolder('tidewatch größer 雪 100% a#b ');
  mkdirSync(join(folder, 'page'));
  writeFileSync(join(folder, 'page', 'one.ts'), "import { two } from './two.ts';\nexport const one: number = two;\n");
  writeFileSync(join(folder, 'page', 'two.ts'), 'export const two = 2;\n');
  const linked = linkModules(pathToFileURL(join(folder, 'page', 'one.ts')), (name) => `/${name}.js`);
  const names = linked.map(({ name }) => name);
  assert.deepEqual(names, ['page/two', 'page/one']);
});
