import { readFileSync } from 'node:fs';

/** Name and version of this release. */
export const { name: PACKAGE, version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { readonly name: string; readonly version: string };
