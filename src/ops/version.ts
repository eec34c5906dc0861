import { readFileSync } from 'node:fs';

export const { name: PACKAGE, version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly name: string; readonly version: string };
