import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GENERATED } from './generated/generated-files.ts';
import { read } from './tidy/project.ts';

for (const [path, make] of Object.entries(GENERATED)) {
  test(`${path} is what \`npm run generate\` writes`, async () => {
    const [written, made] = [read(path), await make()];
    if (path.endsWith('.json')) assert.deepEqual(JSON.parse(written), JSON.parse(made));
    else assert.equal(written, made);
  });
}
