import { readFileSync } from 'node:fs';

/** How the image has the system allocate. */
export function imageMalloc(): Readonly<Record<string, string>> {
  const image = readFileSync(new URL('../../deploy/Dockerfile', import.meta.url), 'utf8');
  const [, name, value] = /^ENV (MALLOC_\w+)=(\w+)$/m.exec(image)!;
  return { [name]: value };
}
