import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'corpus');

/** Inputs of a decoder: what real emitters wrote, and each case that was found. */
export async function corpusOf(target: string): Promise<ReadonlyMap<string, Buffer>> {
  const folder = join(FOLDER, target);
  const names = (await readdir(folder)).sort();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

/** Adds a case. Returns its file. */
export async function keepCase(target: string, bytes: Uint8Array): Promise<string> {
  const name = `found-${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}.bin`;
  await mkdir(join(FOLDER, target), { recursive: true });
  await writeFile(join(FOLDER, target, name), bytes);
  return `test/fault/decoders/corpus/${target}/${name}`;
}
