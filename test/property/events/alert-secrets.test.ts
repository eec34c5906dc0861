/** Receivers that send back what they were sent, escaped in every way: no detail of a failure holds a secret. */
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { DEFAULT_WORDING } from '../../../src/alerts/message/wording.ts';
import { openReceiver } from '../../../src/alerts/receivers/open-receivers.ts';
import { startHttpReceiver } from '../../fixture/alerts/http-receiver.ts';
import { notificationOf, revisionsOf } from '../../fixture/alerts/notification.ts';
import { receiverOf } from '../../fixture/alerts/open-receiver.ts';
import { fc } from '../../fixture/fast-check.ts';
import { listening } from '../../fixture/http/listening.ts';

type Escape = (text: string) => string;

const toUnits: Escape = (text) =>
  text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const toBytes: Escape = (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&');
/** How a receiver may repeat a text. Each may follow another. */
const ESCAPES: readonly Escape[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => JSON.stringify(text),
  toUnits,
  encodeURIComponent,
  encodeURI,
  toBytes,
  (text) => text.replaceAll('/', '\\/'),
  (text) => text.replace(/[&<>"'/]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`),
  (text) => text.replace(/[^a-z]/gi, (char) => `&#${char.charCodeAt(0)};`),
];

const escaping = fc.array(fc.constantFrom(...ESCAPES), { minLength: 1, maxLength: 3 }).map(
  (escapes): Escape =>
    (text) =>
      escapes.reduce((escaped, next) => next(escaped), text),
);
const word = fc.stringMatching(/^[A-Za-z0-9]{4,24}$/);
const around = fc.record({
  before: fc.string({ maxLength: 250 }),
  after: fc.string({ maxLength: 250 }),
  times: fc.integer({ min: 1, max: 30 }),
});
const GUARD = { allowPrivate: new Set(['127.0.0.1']) };
const WORDING = { ...DEFAULT_WORDING, consoleUrl: null };
const RUNS = { numRuns: 150 };
/** What the receiver answers with next. */
let answer: (sent: string) => string = (sent) => sent;
const hook = await startHttpReceiver((response, { path, headers, body }) => {
  const key = /"routing_key":"(\w+)"/.exec(body)?.[1] ?? '';
  response.writeHead(400).end(answer(`${path} ${headers.authorization ?? ''} ${key}`));
});

/** No word of the detail is one of these, in any case. */
function assertHidden(outcome: { readonly kind: string; readonly detail?: string }, words: readonly string[]): void {
  const { detail = '' } = outcome;
  assert.notEqual(outcome.kind, 'accepted');
  assert.ok(detail.length <= 200, detail);
  const shown = new Set(detail.toLowerCase().match(/[\p{L}\p{N}]+/gu));
  for (const secret of words) {
    assert.ok(!shown.has(secret.toLowerCase()), `${JSON.stringify(secret)} is in ${JSON.stringify(detail)}`);
    if (secret.length >= 6) assert.ok(!detail.toLowerCase().includes(secret.toLowerCase()), detail);
  }
}

test('no detail holds a word of a URL or a header that a receiver echoes', async () => {
  const settings = fc.record({
    kind: fc.constantFrom('webhook', 'slack', 'alertmanager'),
    path: fc.array(word, { minLength: 1, maxLength: 4 }),
    query: word,
    token: fc.array(word, { minLength: 1, maxLength: 3 }),
    between: fc.constantFrom('-', '_', '.', '+', '/', '=', ' ', '"', '%', '&'),
  });
  await fc.assert(
    fc.asyncProperty(settings, escaping, around, async ({ kind, path, query, token, between }, escaped, text) => {
      answer = (sent) => text.before + ` ${escaped(sent)}`.repeat(text.times) + text.after;
      const url = `${hook.url}/${path.join('/')}${kind === 'alertmanager' ? '' : `?key=${query}`}`;
      const authorization = kind === 'slack' ? '' : ', authorization_env: AUTH';
      const { send, close } = receiverOf(`${kind}: { url_env: HOOK${authorization} }`, {
        HOOK: url,
        AUTH: `Bearer ${token.join(between)}`,
      });
      const outcome = await send(notificationOf([revisionsOf(1).opened]));
      close();
      const words = kind === 'slack' ? path : [...path, ...token];
      assertHidden(outcome, kind === 'alertmanager' ? words : [...words, query]);
    }),
    RUNS,
  );
});

test('no detail holds the key of PagerDuty', async () => {
  const key = fc.stringMatching(/^[A-Za-z0-9]{32}$/);
  await fc.assert(
    fc.asyncProperty(key, escaping, around, async (routingKey, escaped, text) => {
      answer = (sent) => text.before + ` ${escaped(sent)}`.repeat(text.times) + text.after;
      const target = `pagerduty: { url: "${hook.url}/enqueue", routing_key_env: KEY }`;
      const { send, close } = receiverOf(target, { KEY: routingKey });
      assertHidden(await send(notificationOf([revisionsOf(1).opened])), [routingKey]);
      close();
    }),
    RUNS,
  );
});

test('no detail holds the password of a mail server that echoes the login, as text or in base64', async () => {
  let said = (login: string) => login;
  const server = createServer((socket) => {
    socket.write('220 mail\r\n');
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('data', (line: string) => {
      if (line.startsWith('EHLO')) socket.write('250-mail\r\n250 AUTH PLAIN\r\n');
      else if (line.startsWith('AUTH')) socket.write(`535 ${said(line.trim())}\r\n`);
      else socket.end();
    });
  });
  const login = { kind: 'email', host: '127.0.0.1', port: await listening(server), tls: 'none' } as const;
  await fc.assert(
    fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 3 }), escaping, async (words, escaped) => {
      const password = words.join('-');
      said = (line) => escaped(`${line} is ${password}`).replace(/[^\x20-\x7e]/g, '?');
      const target = { ...login, login: { username: 'somebody', password }, from: 'a@x.example', to: ['b@x.example'] };
      const receiver = openReceiver({ name: 'it', target, wording: WORDING, retryForMs: 1, timeoutMs: 5_000 }, GUARD);
      const outcome = await receiver.send(notificationOf([revisionsOf(1).opened]), new AbortController().signal);
      const sent = Buffer.from(`\0somebody\0${password}`).toString('base64');
      assertHidden(outcome, [...words, ...(sent.match(/\w{6,}/g) ?? [])]);
    }),
    { numRuns: 40 },
  );
});
