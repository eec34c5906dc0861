/** The table of senders is written from the list of `npm run senders`, which tries them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { sendersTable } from '../senders/senders.ts';
import { ROOT, read } from './project.ts';

const PAGE = 'deploy/book/senders.md';
const COMMAND = 'UPDATE_SETTINGS=1 npx node --test test/tidy.test.ts';
const [BEGIN, END] = [`<!-- Written by ${COMMAND} -->\n`, '<!-- As far as here -->'];

test(`the table of senders is that of the list, or ${COMMAND} writes it`, () => {
  const page = read(PAGE);
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)];
  const written = `${page.slice(0, from)}\n${sendersTable()}\n\n${page.slice(to)}`;
  if (process.env.UPDATE_SETTINGS === '1') writeFileSync(new URL(PAGE, ROOT), written);
  else assert.equal(page, written);
});
