/** What a user's lawyer and scanner ask for: the licences of all packages, and a bill of materials. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { thirdParties } from '../../../deploy/package/licences.ts';

const cwd = join(import.meta.dirname, '../../..');
const script = async (name: string) => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', name], { cwd, maxBuffer: 2 ** 26 });
  return stdout;
};

test('the file of licences names every package that runs, with texts, and none of the tools of developers', async () => {
  const written = await script('licences');
  const [names] = written.split('\n---');
  for (const { name, licence } of thirdParties()) assert.ok(names.includes(`${name}: ${licence}\n`), name);
  assert.ok(!names.includes('@biomejs/biome'));
  assert.match(written, /Copyright \(c\) \d+-present The Fastify team/);
});

test('the bill of materials is CycloneDX, and has what runs with its licences', async () => {
  const bill = JSON.parse(await script('sbom')) as {
    readonly bomFormat: string;
    readonly components: readonly { readonly name: string; readonly licenses?: readonly unknown[] }[];
  };
  assert.equal(bill.bomFormat, 'CycloneDX');
  const named = new Map(bill.components.map((component) => [component.name, component]));
  for (const name of ['fastify', 'kafkajs', 'openid-client', 'onnxruntime-node']) {
    assert.ok((named.get(name)?.licenses ?? []).length > 0, name);
  }
  assert.ok(!named.has('@biomejs/biome') && !named.has('typescript'));
});
