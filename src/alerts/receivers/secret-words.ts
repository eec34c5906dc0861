import { isIP } from 'node:net';
import { urlHost } from '../network/guarded-lookup.ts';
import { PAGERDUTY_URL, type ReceiverTarget } from '../routes/receiver-schema.ts';

const HIDDEN = '***';
/** Words of this length are hidden inside other words, too; with shorter ones that would blank ordinary words. */
const PART_CHARACTERS_MIN = 6;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const WORD_CHARACTER = '[\\p{L}\\p{N}\\p{M}]';

/**
 * Hides the words of settings in what a receiver sends back: whole or in parts, in any case, and escaped as in JSON,
 * HTML or a URL.
 */
export class SecretWords {
  readonly #pattern: RegExp | null;

  constructor(secrets: readonly string[]) {
    const spellings = secrets.flatMap((secret) => [secret, unescaped(secret)]).flatMap(casesOf);
    const words = new Set(spellings.flatMap((spelling) => [spelling, ...(spelling.match(WORD) ?? [])]));
    // The longest first, so that a whole setting becomes one replacement.
    const alternatives = [...words]
      .filter((word) => new RegExp(WORD_CHARACTER, 'u').test(word))
      .sort((a, b) => b.length - a.length)
      .map((word) => {
        const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
        if (word.length >= PART_CHARACTERS_MIN) return escaped;
        return `(?<!${WORD_CHARACTER})${escaped}(?!${WORD_CHARACTER})`;
      });
    this.#pattern = alternatives.length === 0 ? null : new RegExp(alternatives.join('|'), 'giu');
  }

  /** The text without the words. Where one of them was escaped, the whole text is shown unescaped. */
  hide(text: string): string {
    if (this.#pattern === null) return text;
    const plain = text.replaceAll(this.#pattern, HIDDEN);
    const meant = unescaped(plain);
    const hidden = meant.replaceAll(this.#pattern, HIDDEN);
    return hidden === meant ? plain : hidden;
  }
}

/** Texts of a receiver that must not be repeated. Of a URL the host, too: it may identify a webhook. */
export function secretsOf(target: ReceiverTarget): readonly string[] {
  switch (target.kind) {
    case 'webhook':
      return [...partsOfUrl(target.url), target.secret, ...partsOfHeader(target.authorization)].filter(isText);
    case 'slack':
      return partsOfUrl(target.url);
    case 'pagerduty':
      return [...(target.url === PAGERDUTY_URL ? [] : partsOfUrl(target.url)), target.routingKey];
    case 'alertmanager':
      return [...partsOfUrl(target.url), ...partsOfHeader(target.authorization)];
    case 'email': {
      if (target.login === null) return [];
      const { username, password } = target.login;
      // As the login sends them.
      return [password, base64(password), base64(username), base64(`\0${username}\0${password}`)];
    }
  }
}

const isText = (text: string | null): text is string => text !== null;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const casesOf = (text: string) => [text, text.toUpperCase(), text.toLowerCase()];

function partsOfUrl(url: string): string[] {
  const parsed = new URL(url);
  const host = urlHost(parsed);
  return [parsed.pathname + parsed.search + parsed.hash, ...(isIP(host) === 0 ? [host] : [])];
}

/** A `Basic` login may come back decoded. */
function partsOfHeader(header: string | null): string[] {
  if (header === null) return [];
  const login = /^basic +(\S+)$/i.exec(header)?.[1];
  return [header, ...(login === undefined ? [] : [Buffer.from(login, 'base64').toString()])];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Texts that are escaped over and over. */
const ESCAPES_MAX = 8;

/** Undoes the escapes of JSON, HTML and URLs, also where they are escaped again. */
function unescaped(text: string): string {
  let meant = text;
  for (let round = 0; round < ESCAPES_MAX; round++) {
    const next = unescapedOnce(meant);
    if (next === meant) break;
    meant = next;
  }
  return meant;
}

function unescapedOnce(text: string): string {
  return text
    .replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
    .replace(/\\u([\da-f]{4})/gi, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
    .replace(/\\[bfnrt]/gi, ' ')
    .replace(/\\(["'\\/])/g, '$1')
    .replace(/&#(x?)([\da-f]{1,6});/gi, (entity, hex: string, digits: string) => {
      const point = Number.parseInt(digits, hex === '' ? 10 : 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
    })
    .replace(/&(amp|lt|gt|quot|apos);/gi, (_, name: string) => ENTITIES[name.toLowerCase()]);
}
