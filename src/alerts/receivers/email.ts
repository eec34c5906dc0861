import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { type Notification, typeOf } from '../message/notification.ts';
import { oneLine } from '../message/plain-text.ts';
import { dedupKeyOf } from '../message/subject.ts';
import { type Worded, wordsOf } from '../message/wording.ts';
import { type AddressGuard, AddressRefused, resolveGuarded } from '../network/guarded-lookup.ts';
import type { EmailTarget, ReceiverSettings } from '../routes/alert-route.ts';
import { ACCEPTED, type DeliveryOutcome, type Send } from './receiver.ts';

const ANSWER_BYTES_MAX = 16_384;

/** Mail by SMTP, as plain text. Each message has a connection of its own. */
export function sendMail({ wording, timeoutMs }: ReceiverSettings, target: EmailTarget, guard: AddressGuard): Send {
  return async (notification, signal) => {
    const mail = mailMessage(notification, wordsOf(wording, notification), target);
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      // The connection is made to the address that was checked, not to the name, which may lead elsewhere by then.
      const address = await resolveGuarded(guard, target.host.toLowerCase());
      await deliver(mail, { target, address, timeoutMs, signal: AbortSignal.any([signal, timeout]) });
      return ACCEPTED;
    } catch (error) {
      if (timeout.aborted) return failed(`no end within ${timeoutMs} ms`);
      return judge(error as Error & { responseCode?: number });
    }
  };
}

type Mail = ReturnType<typeof mailMessage>;

interface SmtpConnection {
  readonly target: EmailTarget;
  readonly address: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

async function deliver(mail: Mail, { target, address, timeoutMs, signal }: SmtpConnection): Promise<void> {
  const { host, port, tls, login } = target;
  const transport = createTransport({
    host: address,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    // The certificate is that of the name.
    ...(isIP(host) === 0 && { tls: { servername: host } }),
    ...(login && { auth: { user: login.username, pass: login.password } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    maxResponseSize: ANSWER_BYTES_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ ...mail, signal });
  } finally {
    transport.close();
  }
}

/** The mail. Those about one event or incident are one thread, by its id. A repetition has the same id as the first. */
function mailMessage(notification: Notification, { title, text }: Worded, { from, to }: EmailTarget) {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  const threads = notification.notices.map(
    (notice) => `<event.${dedupKeyOf(notice).replace(/[^\w-]/g, '')}@${domain}>`,
  );
  return {
    from: { name: 'Tidewatch', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: oneLine(title),
    text,
    messageId: `<${notification.id}@${domain}>`,
    references: [...new Set(threads)],
    headers: { 'auto-submitted': 'auto-generated', 'x-tidewatch-type': typeOf(notification) },
  };
}

/** 5xx of a mail server are final, as in SMTP. So is a refused address. Anything else may pass. */
function judge(error: Error & { responseCode?: number }): DeliveryOutcome {
  const { message: detail } = error;
  if (error instanceof AddressRefused) return { kind: 'refused', reason: 'address-refused', detail };
  const isFinal = error.responseCode !== undefined && error.responseCode >= 500;
  return isFinal ? { kind: 'refused', reason: 'refused', detail } : failed(detail);
}

function failed(detail: string): DeliveryOutcome {
  return { kind: 'failed', detail, retryAfterMs: null };
}
