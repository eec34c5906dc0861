import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, test } from 'node:test';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { notificationOf, revisionsOf } from '../../../fixture/alerts/notification.ts';
import { incidentNotification, notifiedIncident } from '../../../fixture/alerts/notified-incident.ts';
import { receiverOf } from '../../../fixture/alerts/open-receiver.ts';
import { listening } from '../../../fixture/http/listening.ts';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | null;
  readonly source: string;
}

const servers: SMTPServer[] = [];
after(() => {
  for (const server of servers) server.close();
});

/** A real SMTP server that keeps what it is sent. */
async function startMailServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          user: (session.user as string | undefined) ?? null,
          source: Buffer.concat(chunks).toString(),
        });
        callback();
      });
    },
    ...options,
  });
  servers.push(server);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return { mails, port: (listening.address() as AddressInfo).port };
}

const mailTo = (port: number, more = 'tls: none') =>
  `email: { host: 127.0.0.1, port: ${port}, ${more}, from: tidewatch@example.com, to: [a@example.com, b@example.com] }, timeout: 60s`;

test('a mail arrives as plain text, with an id of its own and the thread of its event', async () => {
  const { mails, port } = await startMailServer();
  const { send } = receiverOf(mailTo(port));
  const { opened, closed } = revisionsOf(1);
  const first = notificationOf([opened]);
  assert.deepEqual(await send(first), { kind: 'accepted' });
  assert.deepEqual(await send(notificationOf([closed])), { kind: 'accepted' });
  assert.deepEqual([mails[0].from, mails[0].to], ['tidewatch@example.com', ['a@example.com', 'b@example.com']]);
  assert.match(mails[0].source, /^Subject: \[opened\] spike in series-1\r$/m);
  assert.match(mails[0].source, /^Content-Type: text\/plain/m);
  assert.match(mails[0].source, new RegExp(`^Message-ID: <${first.id}@example\\.com>\r$`, 'm'));
  for (const { source } of mails)
    assert.match(source, new RegExp(`References:\\s+<event\\.${opened.eventId}@example\\.com>`));
});

test('what a series is called makes no header and no recipient', async () => {
  const { mails, port } = await startMailServer();
  const { send } = receiverOf(mailTo(port));
  const series = 'x\r\nBcc: everyone@example.com\r\n\r\n<script>';
  assert.equal((await send(notificationOf([revisionsOf(1, { series }).opened]))).kind, 'accepted');
  assert.deepEqual(mails[0].to, ['a@example.com', 'b@example.com']);
  const [header] = mails[0].source.split('\r\n\r\n');
  assert.doesNotMatch(header, /^Bcc:/im);
});

test('a refusal by 5xx is final, one by 4xx is repeated', async () => {
  const refusing = async (responseCode: number) => {
    const { port } = await startMailServer({
      onRcptTo: (_address, _session, callback) => callback(Object.assign(new Error('no such user'), { responseCode })),
    });
    return receiverOf(mailTo(port)).send(notificationOf([revisionsOf(1).opened]));
  };
  assert.equal((await refusing(550)).kind, 'refused');
  assert.equal((await refusing(451)).kind, 'failed');
});

test('each address of a mail has an outcome of its own', async () => {
  const answers: Readonly<Record<string, number>> = { 'b@example.com': 451, 'c@example.com': 550 };
  const { mails, port } = await startMailServer({
    onRcptTo: ({ address }, _session, callback) => {
      const responseCode = answers[address];
      callback(responseCode === undefined ? null : Object.assign(new Error('not now'), { responseCode }));
    },
  });
  const { send } = receiverOf(mailTo(port).replace('b@example.com', 'b@example.com, c@example.com'));
  const notification = notificationOf([revisionsOf(1).opened]);
  assert.deepEqual(await send(notification), {
    kind: 'partial',
    open: ['b@example.com'],
    refused: [{ address: 'c@example.com', detail: 'c@example.com: 550 not now' }],
    detail: 'b@example.com: 451 not now; c@example.com: 550 not now',
  });
  const recipients = mails.map(({ to }) => to);
  assert.deepEqual(recipients, [['a@example.com']]);
  const again = await send({ ...notification, to: ['b@example.com'] });
  assert.deepEqual(again, { kind: 'failed', detail: 'b@example.com: 451 not now', retryAfterMs: null });
  const gone = await send({ ...notification, to: ['z@example.com'] });
  assert.deepEqual(gone, { kind: 'refused', reason: 'refused', detail: 'no longer a recipient: z@example.com' });
});

test('a server without STARTTLS gets neither password nor mail', async () => {
  const { mails, port } = await startMailServer();
  const target = mailTo(port, 'tls: starttls, username: u, password_env: PASSWORD');
  const outcome = await receiverOf(target, { PASSWORD: 'hunter2' }).send(notificationOf([revisionsOf(1).opened]));
  assert.notEqual(outcome.kind, 'accepted');
  assert.doesNotMatch(JSON.stringify(outcome), /hunter2/);
  assert.equal(mails.length, 0);
});

test('a server whose certificate nobody vouches for gets neither password nor mail', async () => {
  // The certificate of the library is its own authority.
  const { mails, port } = await startMailServer({ disabledCommands: [], authOptional: false });
  const target = mailTo(port, 'tls: starttls, username: u, password_env: PASSWORD');
  const outcome = await receiverOf(target, { PASSWORD: 'hunter2' }).send(notificationOf([revisionsOf(1).opened]));
  assert.match(outcome.kind === 'failed' ? outcome.detail : '', /certificate/);
  assert.equal(mails.length, 0);
});

test('a server that never greets is left at the time-out', async () => {
  const target = mailTo(await listening(createServer(() => {}))).replace('60s', '200ms');
  const outcome = await receiverOf(target).send(notificationOf([revisionsOf(1).opened]));
  assert.equal(outcome.kind, 'failed');
});

test('a server that greets for ever, or answers without an end, is left', async () => {
  for (const chatter of ['220-welcome\r\n', '2'.repeat(10_000)]) {
    const endless = createServer((socket) => {
      const timer = setInterval(() => socket.write(chatter), 5);
      socket.on('close', () => clearInterval(timer)).on('error', () => {});
    });
    const target = mailTo(await listening(endless)).replace('60s', '300ms');
    const outcome = await receiverOf(target).send(notificationOf([revisionsOf(1).opened]));
    assert.equal(outcome.kind, 'failed');
  }
});

test('a mail server at a private address is refused unless it is allowed by name', async () => {
  const { mails, port } = await startMailServer();
  const guard = { allowPrivate: new Set<string>() };
  for (const host of ['127.0.0.1', 'localhost']) {
    const target = mailTo(port).replace('127.0.0.1', host);
    const outcome = await receiverOf(target, {}, guard).send(notificationOf([revisionsOf(1).opened]));
    assert.equal(outcome.kind === 'refused' && outcome.reason, 'address-refused', host);
  }
  assert.equal(mails.length, 0);
});

test('mails about an incident are one thread of their own', async () => {
  const { mails, port } = await startMailServer();
  const { send } = receiverOf(mailTo(port));
  const notified = notifiedIncident();
  await send(incidentNotification(notified));
  await send(incidentNotification({ ...notified, type: 'closed', revision: 3 }));
  for (const { source } of mails) {
    assert.match(source, new RegExp(`^References: <event\\.incident-${notified.incidentId}@example\\.com>\r$`, 'm'));
  }
  assert.match(mails[0].source, /^Subject: \[opened\] 40 series at once; usually 2; likely origin db-1\r$/m);
});
