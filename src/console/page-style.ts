import { readdirSync, readFileSync } from 'node:fs';
import { VERSION } from '../ops/version.ts';
import { chartStyle } from './link-modules.ts';

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="7" fill="#0b3d5c"/>
<path d="M3 19c4-8 6-8 9 0s5 8 8 0 5-8 9 0" fill="none" stroke="#7fd4f5" stroke-width="3" stroke-linecap="round"/>
<circle cx="25" cy="8" r="3" fill="#ff7a59"/>
</svg>`;

export const VERSION_META = `<meta name="generator" content="Tidewatch ${VERSION}">`;

/** All style sheets of the console in one, in the order of their names after the tokens. */
export function consoleStyle(): string {
  const folder = new URL('style/', import.meta.url);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.css'))
    .sort((a, b) => Number(b === 'tokens.css') - Number(a === 'tokens.css') || a.localeCompare(b));
  return [chartStyle(), ...names.map((name) => readFileSync(new URL(name, folder), 'utf8'))].join('\n');
}
