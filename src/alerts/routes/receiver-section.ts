import { durationMs, integerFrom, oneOf, text, textMatching, textOf } from '../../config/kinds.ts';
import { readReferredSecret, refersToSecret, type SecretSource } from '../../config/secret-reference.ts';
import type { Section } from '../../config/yaml-section.ts';
import { parseTemplate, type Template } from '../message/template.ts';
import { DEFAULT_WORDING, type Wording } from '../message/wording.ts';
import { PAGERDUTY_URL, type ReceiverSettings, type ReceiverTarget } from './alert-route.ts';

const RETRY_FOR_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
const TIMEOUT_MS_MAX = 60_000;
const SMTP_PORT = { implicit: 465, starttls: 587, none: 25 } as const;

export const entryName = textMatching('1 to 64 letters, digits, dots, dashes or underscores', /^[a-zA-Z0-9._-]{1,64}$/);

const HTTP_URL = 'an http or https URL without user and password in it';
const mailAddress = textMatching('a mail address', /^[^\s@<>,;:"\\()[\]]+@[^\s@<>,;:"\\()[\]]+$/);
const hostName = textMatching('a host name or address', /^(?:[a-zA-Z0-9._-]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)$/);
const timeout = textOf('a duration from 100ms to 1min', (value) => {
  const ms = durationMs.fromText(value);
  return ms !== undefined && ms >= 100 && ms <= TIMEOUT_MS_MAX ? ms : undefined;
});

type ReadTarget = (section: Section, secrets: SecretSource) => ReceiverTarget | null;

/** Readers of targets by the key under which they stand. */
const TARGETS: Readonly<Record<ReceiverTarget['kind'], ReadTarget>> = {
  webhook: readWebhook,
  slack: (section, secrets) => {
    const url = readUrl(section, secrets, 'required');
    return url === undefined ? null : { kind: 'slack', url };
  },
  pagerduty: readPagerDuty,
  alertmanager: (section, secrets) => {
    const url = readUrl(section, secrets, 'required')?.replace(/\/+$/, '');
    const authorization = readAuthorization(section, secrets);
    return url === undefined ? null : { kind: 'alertmanager', url, authorization };
  },
  email: readEmail,
};

/** Reads one entry of `receivers`; null where a problem makes further checks meaningless. */
export function readReceiver(
  section: Section,
  secrets: SecretSource,
  consoleUrl: string | null,
): ReceiverSettings | null {
  const name = section.read('name', entryName, 'required');
  const kinds = Object.keys(TARGETS) as ReceiverTarget['kind'][];
  const given = kinds.filter((kind) => section.has(kind));
  if (given.length !== 1) {
    const expected = `one of ${kinds.join(', ')}`;
    section.problem(given[1] ?? kinds[0], expected, given.length === 0 ? undefined : given.join(' and '));
  }
  const targets = kinds.map((kind) => {
    const target = section.section(kind);
    const read = given.includes(kind) ? TARGETS[kind](target, secrets) : null;
    if (given.includes(kind)) target.close();
    return read;
  });
  const retryForMs = section.read('retry_for', durationMs) ?? RETRY_FOR_MS;
  const timeoutMs = section.read('timeout', timeout) ?? TIMEOUT_MS;
  const wording = { ...readWording(section.section('template')), consoleUrl };
  section.close();
  const target = targets.find((read) => read !== null);
  return name === undefined || target === undefined ? null : { name, target, wording, retryForMs, timeoutMs };
}

function readWording(section: Section): Omit<Wording, 'consoleUrl'> {
  const wording = {
    title: readTemplate(section, 'title') ?? DEFAULT_WORDING.title,
    text: readTemplate(section, 'text') ?? DEFAULT_WORDING.text,
  };
  section.close();
  return wording;
}

function readTemplate(section: Section, key: string): Template | undefined {
  const source = section.read(key, text);
  if (source === undefined) return undefined;
  const parsed = parseTemplate(source);
  if (parsed.kind === 'template') return parsed.template;
  section.problem(key, parsed.problem, undefined);
  return undefined;
}

function readWebhook(section: Section, secrets: SecretSource): ReceiverTarget | null {
  const url = readUrl(section, secrets, 'required');
  const secret = readReferredSecret(section, 'secret', secrets) ?? null;
  if (secret !== null && !isSigningSecret(secret)) {
    const key = section.has('secret_env') ? 'secret_env' : 'secret_file';
    section.problem(key, 'the place of a secret of 24 to 64 bytes in base64, after whsec_ or not', 'another one');
  }
  const authorization = readAuthorization(section, secrets);
  return url === undefined ? null : { kind: 'webhook', url, secret, authorization };
}

/** The value of a header. */
function readAuthorization(section: Section, secrets: SecretSource): string | null {
  const authorization = readReferredSecret(section, 'authorization', secrets) ?? null;
  if (authorization !== null && !/^[\x20-\x7e]+$/.test(authorization)) {
    const key = section.has('authorization_env') ? 'authorization_env' : 'authorization_file';
    section.problem(key, 'the place of one line of printable ASCII', 'another text');
  }
  return authorization;
}

/** The lengths of Standard Webhooks. */
function isSigningSecret(secret: string): boolean {
  const base64 = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return false;
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64;
}

function readPagerDuty(section: Section, secrets: SecretSource): ReceiverTarget | null {
  const url = readUrl(section, secrets, 'optional') ?? PAGERDUTY_URL;
  const routingKey = readRequiredSecret(section, 'routing_key', secrets);
  if (routingKey !== undefined && !/^[a-zA-Z0-9]{32}$/.test(routingKey)) {
    const key = section.has('routing_key_env') ? 'routing_key_env' : 'routing_key_file';
    section.problem(key, 'the place of a key of 32 letters and digits', 'another one');
  }
  return routingKey === undefined ? null : { kind: 'pagerduty', url, routingKey };
}

function readEmail(section: Section, secrets: SecretSource): ReceiverTarget | null {
  const host = section.read('host', hostName, 'required');
  const tls = section.read('tls', oneOf('implicit', 'starttls', 'none')) ?? 'starttls';
  const port = section.read('port', integerFrom(1, 65_535)) ?? SMTP_PORT[tls];
  const username = section.read('username', text);
  const password = readReferredSecret(section, 'password', secrets);
  if (username !== undefined && !refersToSecret(section, 'password')) {
    section.problem('password_env', 'set, as username is', undefined);
  }
  if (username === undefined && refersToSecret(section, 'password')) section.problem('username', 'set', undefined);
  if (username !== undefined && tls === 'none') {
    section.problem('tls', 'implicit or starttls, as username is set', tls);
  }
  const from = section.read('from', mailAddress, 'required');
  const to = section.readList('to', mailAddress, 'required');
  if (host === undefined || from === undefined || to === undefined) return null;
  const login = username !== undefined && password !== undefined ? { username, password } : null;
  return { kind: 'email', host, port, tls, login, from, to };
}

/** `url`, or a reference to it where it is a secret. A problem does not repeat a URL, which may be one. */
function readUrl(section: Section, secrets: SecretSource, presence: 'required' | 'optional'): string | undefined {
  const written = section.read('url', text);
  if (written !== undefined && refersToSecret(section, 'url')) {
    section.problem('url', 'absent, as url_env or url_file is set', 'a URL');
  }
  const isGiven = section.has('url') || refersToSecret(section, 'url');
  if (!isGiven && presence === 'required') section.problem('url', `${HTTP_URL}; or url_env, or url_file`, undefined);
  const url = written ?? readReferredSecret(section, 'url', secrets);
  if (url === undefined) return undefined;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '') {
    return url;
  }
  section.problem(
    section.has('url') ? 'url' : section.has('url_env') ? 'url_env' : 'url_file',
    HTTP_URL,
    'another text',
  );
  return undefined;
}

function readRequiredSecret(section: Section, key: string, secrets: SecretSource): string | undefined {
  if (!refersToSecret(section, key)) section.problem(`${key}_env`, `set, or ${key}_file`, undefined);
  return readReferredSecret(section, key, secrets);
}
