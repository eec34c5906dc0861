import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnostic } from '../../../../src/records/diagnostics/diagnostic.ts';
import {
  decodeDiagnostics,
  encodeDiagnostics,
  METADATA_BYTES_MAX,
} from '../../../../src/records/diagnostics/offset-metadata.ts';

const diagnostic = (detector: string): Diagnostic => {
  return { kind: 'gaps', detector, freq: 'h', observations: 100, duplicates: 0, missing: 200 };
};

test('diagnostics are read as they were written', () => {
  const diagnostics = [diagnostic('a'), diagnostic('b')];
  assert.deepEqual(decodeDiagnostics(encodeDiagnostics(diagnostics)), diagnostics);
  assert.equal(encodeDiagnostics([]), null);
});

test('the worst diagnostics that fit are written', () => {
  const diagnostics = Array.from({ length: 16 }, (_, i) => diagnostic(`\u{1F30A}${i}`.repeat(40)));
  const metadata = encodeDiagnostics(diagnostics) ?? '';
  assert.ok(Buffer.byteLength(metadata) <= METADATA_BYTES_MAX);
  const read = decodeDiagnostics(metadata);
  assert.ok(read.length > 0 && read.length < diagnostics.length);
  assert.deepEqual(read, diagnostics.slice(0, read.length));
});

test('metadata that another program wrote are no diagnostics', () => {
  const others = [
    null,
    '',
    'me',
    '{"version":2,"findings":[]}',
    '{"version":1,',
    '{"version":1,"findings":[{"kind":"x"}]}',
  ];
  for (const metadata of others) assert.deepEqual(decodeDiagnostics(metadata), []);
});
