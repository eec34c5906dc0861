#!/bin/sh
# date-holidays: dates that contradict their own names. Clean Monday of Cyprus is a Tuesday, the three days of the
# Korean New Year begin on the day itself (those of Chuseok, in the same file, on the eve), and the independence of
# Guayaquil, 9 October, is on 10 September.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund date-holidays@3.37.0
node -e "
const Holidays = require('date-holidays');
console.log('date-holidays', require('date-holidays/package.json').version);
const of = (place, name) => new Holidays(place).getHolidays(2026).find((each) => each.type === 'public' && each.name.includes(name));
const weekday = ({ date }) => new Date(date.slice(0, 10)).toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
const [clean, seollal, chuseok] = [of('CY', 'Δευτέρα'), of('KR', '설날'), of('KR', '추석')];
const guayaquil = of('EC', 'Guayaquil');
console.log(clean.name, clean.date, weekday(clean));
console.log(seollal.rule, seollal.date, '(official: 16 to 18 February 2026);', chuseok.rule, chuseok.date);
console.log(guayaquil.name, guayaquil.date, '(official: 9 October)');
const seen = [weekday(clean), seollal.date.slice(0, 10), chuseok.date.slice(0, 10), guayaquil.date.slice(0, 10)];
process.exit(seen.join() === 'Tuesday,2026-02-17,2026-09-24,2026-09-10' ? 0 : 1);
"
