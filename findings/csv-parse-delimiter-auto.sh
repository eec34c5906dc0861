#!/bin/sh
# csv-parse (npm): `delimiter_auto` scores every character of all lines. In rows with ISO 8601 times it prefers one of the
# times to the comma, so that an ordinary file of series cannot be read with it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . csv-parse@7.0.3 >/dev/null
cat >check.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';

const time = (i) => new Date(Date.UTC(2026, 0, 1, 0, 5 * i)).toISOString();
const rows = Array.from({ length: 12 }, (_, i) => `cpu,${time(i)},${(40 + i / 10).toFixed(2)}`);
let seen = 'the columns';
try {
  const [header] = parse(['series,timestamp,value', ...rows].join('\n'), { delimiter_auto: true });
  if (header.length !== 3) seen = JSON.stringify(header);
} catch (error) {
  seen = error.message;
}
console.log('csv-parse', JSON.parse(readFileSync('node_modules/csv-parse/package.json', 'utf8')).version);
console.log('read with delimiter_auto:', seen);
process.exit(seen === 'the columns' ? 1 : 0);
JS
node check.mjs
