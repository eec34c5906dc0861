import wabt from 'wabt';
import { read } from '../tidy/project.ts';

/** The source of a kernel in WebAssembly, with the binary that its text compiles to. */
export async function kernel(name: string): Promise<string> {
  const text = `${name}.wat`;
  const parsed = (await wabt()).parseWat(text, read(text), { simd: true, relaxed_simd: true });
  parsed.validate();
  const compiled = Buffer.from(parsed.toBinary({}).buffer)
    .toString('base64')
    .replace(/.{1,116}/g, '$&\n');
  return read(`${name}.ts`).replace(/_BINARY = `[^`]*`/, `_BINARY = \`\n${compiled}\``);
}
