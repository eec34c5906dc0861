import { test } from 'node:test';
import { SHAPE_BINARY } from '../../../../src/detection/grade/shape-kernel.ts';
import { assertCompiled } from '../../../fixture/compiled-kernel.ts';

test('the binary of the shape search is that of its text, bit for bit', async () => {
  await assertCompiled('detection/grade/shape-kernel', SHAPE_BINARY);
});
