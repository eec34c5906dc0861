import { isIP } from 'node:net';

import { commaList, integerFrom, oneOf, textMatching, textOf } from '../schema/kinds.ts';

/** `host:port`, also `[::1]:9092`. */
export const brokerList = commaList('brokers as host:port', (broker) => {
  const written = /^(?:[^\s:/@[\]]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})$/.exec(broker)?.[1];
  return written !== undefined && Number(written) >= 1 && Number(written) <= 65_535;
});

/** A user or password inside the URL would reach logs and error messages. */
export const httpUrl = textOf('an http or https URL without user and password in it', (value) => {
  const url = URL.canParse(value) ? new URL(value) : null;
  const fits = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  return fits ? value : undefined;
});

/** The client's secret is sent there. */
export const tokenUrl = textOf(
  'an https URL, or an http URL of this machine, without user and password in it',
  (value) => {
    const url = URL.canParse(value) ? new URL(value) : null;
    if (url === null || url.username !== '' || url.password !== '') return undefined;
    const isHere = url.protocol === 'http:' && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
    return url.protocol === 'https:' || isHere ? value : undefined;
  },
);

/** SASL extensions (RFC 7628): letters, and printable values. */
export const saslExtensions = textOf('NAME=VALUE, separated by commas', (value) => {
  const pairs = value.split(',').map((part) => /^ *([A-Za-z]+)=([\x21-\x7e]+) *$/.exec(part));
  if (pairs.some((pair) => pair === null || pair[1] === 'auth')) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) as Readonly<Record<string, string>>;
});

export const postgresUrl = textOf('a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE', (value) => {
  return URL.canParse(value) && /^postgres(?:ql)?:$/.test(new URL(value).protocol) ? value : undefined;
});

/** Keys of examples, which everybody knows. */
const KNOWN_KEY = /^a-key-of-at-least-24-characters|change-?me|your-?(?:api-?)?key/i;

/** A text that `Authorization: Bearer` can carry, too long to be guessed. */
export const bearerSecret = textOf(
  '24 or more characters of printable ASCII without spaces, and no key of an example (openssl rand -hex 24 makes one)',
  (key) => (/^[\x21-\x7e]{24,}$/.test(key) && !KNOWN_KEY.test(key) ? key : undefined),
);

export const networks = commaList('addresses or networks such as 10.0.0.0/8', (part) => {
  const [address, bits, ...more] = part.split('/');
  const version = isIP(address);
  const bitsMax = version === 4 ? 32 : 128;
  return (
    version !== 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))
  );
});

export const origins = commaList('origins such as https://example.com, or *', (part) => {
  return part === '*' || (/^https?:/.test(part) && URL.canParse(part) && new URL(part).origin === part);
});

export const logLevel = oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');
export type LogLevel = NonNullable<ReturnType<typeof logLevel.parse>>;
export const mechanism = oneOf('plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer');
/** 0 is any free one. */
export const port = integerFrom(0, 65_535);
export const limit = (max: number) => integerFrom(1, max);

/** Headers of a request, such as X-Scope-OrgID=team-a. */
export const httpHeaders = textOf('NAME=VALUE, separated by commas', (value) => {
  const pairs = value.split(',').map((part) => /^ *([A-Za-z0-9-]+)=([\x21-\x7e]+) *$/.exec(part));
  if (pairs.some((pair) => pair === null || /^(?:content-.*|host|transfer-encoding)$/i.test(pair[1]))) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]])) as Readonly<Record<string, string>>;
});

/** The value of `Authorization`. */
export const headerValue = textMatching('one line of printable ASCII', /^[\x20-\x7e]+$/);

/** As Kafka demands it. */
export const instanceId = textMatching(
  'at most 249 letters, digits, dots, hyphens and underscores',
  /^[a-zA-Z0-9._-]{1,249}$/,
);
