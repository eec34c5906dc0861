import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { type Notification, typeOf } from '../message/notification.ts';
import { oneLine } from '../message/plain-text.ts';
import { dedupKeyOf } from '../message/subject.ts';
import { type Worded, wordsOf } from '../message/wording.ts';
import { type AddressGuard, AddressRefused, resolveGuarded } from '../network/guarded-lookup.ts';
import type { ReceiverSettings, TargetOf } from '../routes/receiver-schema.ts';
import { ACCEPTED, type DeliveryOutcome, type RefusedAddress, type Send } from './receiver.ts';

const ANSWER_BYTES_MAX = 16_384;

/** An answer of a mail server to one address or to the whole mail. */
type SmtpError = Error & {
  readonly recipient?: string | undefined;
  readonly response?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly rejectedErrors?: readonly SmtpError[] | undefined;
};

/** Mail by SMTP, as plain text. Each message has a connection of its own, and each address an outcome of its own. */
export function sendMail(
  { wording, timeoutMs }: ReceiverSettings,
  target: TargetOf<'email'>,
  guard: AddressGuard,
): Send {
  return async (notification, signal) => {
    // The routes file may have lost an address since.
    const to = target.to.filter((address) => notification.to?.includes(address) ?? true);
    if (to.length === 0)
      return { kind: 'refused', reason: 'refused', detail: `no longer a recipient: ${notification.to}` };
    const mail = mailMessage(notification, wordsOf(wording, notification), { ...target, to });
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      // The connection is made to the address that was checked, not to the name, which may lead elsewhere by then.
      const address = await resolveGuarded(guard, target.host.toLowerCase());
      const all = AbortSignal.any([signal, timeout]);
      return outcomeOf(to, await deliver(mail, { target, address, timeoutMs, signal: all }));
    } catch (error) {
      if (timeout.aborted) return failed(`not accepted within ${timeoutMs} ms`);
      const { rejectedErrors = [] } = error as SmtpError;
      return rejectedErrors.length === 0 ? judge(error as SmtpError) : outcomeOf(to, rejectedErrors);
    }
  };
}

interface SmtpConnection {
  readonly target: TargetOf<'email'>;
  readonly address: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Returns the answers to addresses that did not accept the mail. Rejects if none did. */
async function deliver(
  mail: ReturnType<typeof mailMessage>,
  { target, address, timeoutMs, signal }: SmtpConnection,
): Promise<readonly SmtpError[]> {
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
    const { rejectedErrors = [] } = await transport.sendMail({ ...mail, signal });
    return rejectedErrors;
  } finally {
    transport.close();
  }
}

/** The mail. Those about one event or incident are one thread, by its id. A repetition has the same id as the first. */
function mailMessage(notification: Notification, { title, text }: Worded, { from, to }: TargetOf<'email'>) {
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

/** @param errors one for each address that did not accept the mail */
function outcomeOf(to: readonly string[], errors: readonly SmtpError[]): DeliveryOutcome {
  const answers = errors.map((error) => {
    const { recipient: address = '', response, message } = error;
    return { address, isFinal: isFinal(error), detail: `${address}: ${response ?? message}` };
  });
  if (answers.length === 0) return ACCEPTED;
  const refused: RefusedAddress[] = answers.filter((answer) => answer.isFinal);
  const open = answers.filter((answer) => !answer.isFinal).map(({ address }) => address);
  const detail = answers.map((answer) => answer.detail).join('; ');
  if (refused.length === to.length) return { kind: 'refused', reason: 'refused', detail };
  if (open.length === to.length) return failed(detail);
  return { kind: 'partial', open, refused: refused.map(({ address, detail }) => ({ address, detail })), detail };
}

/** 5xx of a mail server are final, as in SMTP. Anything else may pass. */
function isFinal({ responseCode }: SmtpError): boolean {
  return responseCode !== undefined && responseCode >= 500;
}

function judge(error: SmtpError): DeliveryOutcome {
  const { message: detail } = error;
  if (error instanceof AddressRefused) return { kind: 'refused', reason: 'address-refused', detail };
  return isFinal(error) ? { kind: 'refused', reason: 'refused', detail } : failed(detail);
}

function failed(detail: string): DeliveryOutcome {
  return { kind: 'failed', detail, retryAfterMs: null };
}
