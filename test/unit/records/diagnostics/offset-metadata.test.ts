import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/records/diagnostics/finding.ts';
import {
  decodeFindings,
  encodeFindings,
  METADATA_BYTES_MAX,
} from '../../../../src/records/diagnostics/offset-metadata.ts';

const finding = (detector: string): Finding => {
  return { kind: 'gaps', detector, freq: 'h', observations: 100, duplicates: 0, missing: 200 };
};

test('findings are read as they were written', () => {
  const findings = [finding('a'), finding('b')];
  assert.deepEqual(decodeFindings(encodeFindings(findings)), findings);
  assert.equal(encodeFindings([]), null);
});

test('the worst findings that fit are written', () => {
  const findings = Array.from({ length: 16 }, (_, i) => finding(`\u{1F30A}${i}`.repeat(40)));
  const metadata = encodeFindings(findings) ?? '';
  assert.ok(Buffer.byteLength(metadata) <= METADATA_BYTES_MAX);
  const read = decodeFindings(metadata);
  assert.ok(read.length > 0 && read.length < findings.length);
  assert.deepEqual(read, findings.slice(0, read.length));
});

test('metadata that another program wrote are no findings', () => {
  const others = [
    null,
    '',
    'me',
    '{"version":2,"findings":[]}',
    '{"version":1,',
    '{"version":1,"findings":[{"kind":"x"}]}',
  ];
  for (const metadata of others) assert.deepEqual(decodeFindings(metadata), []);
});
