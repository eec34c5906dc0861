#!/bin/sh
# date-holidays: a holiday of the country is missing in those regions that had it before the country did. Their rule
# has the same key and has ended, and it replaces that of the country. Brazil: 20 November, national since 2024.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund date-holidays@3.37.0
node -e "
const Holidays = require('date-holidays');
console.log('date-holidays', require('date-holidays/package.json').version);
const has = (...place) => new Holidays(...place).getHolidays(2026).some(({ date }) => date.startsWith('2026-11-20'));
const found = { BR: has('BR'), 'BR-AL': has('BR', 'AL'), 'BR-SP': has('BR', 'SP'), 'BR-RJ': has('BR', 'RJ') };
console.log('20 November 2026 (Lei 14.759/2023) is a holiday:', JSON.stringify(found));
console.log('rule of BR-SP:', JSON.stringify(new Holidays('BR', 'SP').getRule('11-20').active));
process.exit(found.BR && found['BR-AL'] && !found['BR-SP'] && !found['BR-RJ'] ? 0 : 1);
"
