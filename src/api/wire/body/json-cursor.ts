import { BitStack } from './bit-stack.ts';
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  COLON,
  COMMA,
  DOT,
  EXACT_DIGITS_MAX,
  EXACT_EXPONENT_MAX,
  LEFT_BRACE,
  LEFT_BRACKET,
  LINE_FEED,
  LITERALS,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  MINUS,
  NINE,
  PLUS,
  POWERS_OF_TEN,
  QUOTE,
  RIGHT_BRACE,
  RIGHT_BRACKET,
  SPACE,
  TAB,
  UPPER_E,
  ZERO,
} from './json-bytes.ts';

/** Invalid JSON. The message names the position. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

const isDigit = (byte: number) => byte >= ZERO && byte <= NINE;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A position in the bytes of a JSON text. Reads what the caller requests, and skips the rest without building it. */
export class JsonCursor {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = this.#bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  }

  /** The kind of the next value, after white space. */
  kind(): 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' {
    const byte = this.#next();
    if (byte === LEFT_BRACE) return 'object';
    if (byte === LEFT_BRACKET) return 'array';
    if (byte === QUOTE) return 'string';
    if (byte === MINUS || isDigit(byte)) return 'number';
    if (byte === LOWER_T || byte === LOWER_F) return 'boolean';
    if (byte === LOWER_N) return 'null';
    throw this.#unexpected();
  }

  /** Calls `each` at the start of every item. It must consume the item. */
  items(each: (index: number) => void): void {
    this.#expect(LEFT_BRACKET);
    if (this.#accept(RIGHT_BRACKET)) return;
    for (let index = 0; ; index++) {
      this.#next();
      each(index);
      if (this.#accept(RIGHT_BRACKET)) return;
      this.#expect(COMMA);
    }
  }

  /** Calls `each` at the start of the value of every field. It must consume the value. */
  fields(each: (name: string) => void): void {
    this.#expect(LEFT_BRACE);
    if (this.#accept(RIGHT_BRACE)) return;
    for (;;) {
      this.#next();
      const name = this.readString();
      this.#expect(COLON);
      each(name);
      if (this.#accept(RIGHT_BRACE)) return;
      this.#expect(COMMA);
    }
  }

  /**
   * A list whose items are mostly numbers. Calls `number` with their values, and `other` at the start of other items.
   */
  numbers(number: (index: number, value: number) => void, other: (index: number) => void): void {
    const bytes = this.#bytes;
    this.#expect(LEFT_BRACKET);
    if (this.#accept(RIGHT_BRACKET)) return;
    for (let index = 0; ; index++) {
      const byte = bytes[this.at] > SPACE ? bytes[this.at] : this.#next();
      if (byte === MINUS || isDigit(byte)) number(index, this.#number());
      else other(index);
      if (bytes[this.at] === COMMA) this.at++;
      else if (this.#accept(RIGHT_BRACKET)) return;
      else this.#expect(COMMA);
    }
  }

  /** Items of the next list up to its end, or up to the first that is no number, boolean or null. */
  countScalars(): number {
    const bytes = this.#bytes;
    let items = 1;
    for (let at = this.at + 1; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === COMMA) items++;
      else if (byte === RIGHT_BRACKET || byte === QUOTE || byte === LEFT_BRACE || byte === LEFT_BRACKET) break;
    }
    return items;
  }

  readString(): string {
    this.#next();
    const start = this.at;
    const escaped = this.#skipString();
    if (escaped) return JSON.parse(this.#bytes.toString('utf8', start, this.at));
    return this.#bytes.toString('utf8', start + 1, this.at - 1);
  }

  readBoolean(): boolean {
    const value = this.#next() === LOWER_T;
    this.#skipLiteral();
    return value;
  }

  readNull(): null {
    this.#next();
    this.#skipLiteral();
    return null;
  }

  /** The text of the next number as it was written. */
  readLiteral(): string {
    this.#next();
    const start = this.at;
    this.readNumber();
    return this.#bytes.toString('latin1', start, this.at);
  }

  readNumber(): number {
    this.#next();
    return this.#number();
  }

  #number(): number {
    const bytes = this.#bytes;
    const start = this.at;
    const negative = bytes[start] === MINUS;
    let at = negative ? start + 1 : start;
    if (!isDigit(bytes[at])) throw this.#unexpected(at);
    const leadingZero = bytes[at] === ZERO;
    let mantissa = 0;
    let digits = 0;
    let exponent = 0;
    for (const first = at; isDigit(bytes[at]); at++) {
      if (leadingZero && at > first) throw this.#unexpected(at);
      mantissa = mantissa * 10 + (bytes[at] - ZERO);
      if (mantissa > 0) digits++;
    }
    if (bytes[at] === DOT) {
      at++;
      if (!isDigit(bytes[at])) throw this.#unexpected(at);
      for (; isDigit(bytes[at]); at++) {
        mantissa = mantissa * 10 + (bytes[at] - ZERO);
        if (mantissa > 0) digits++;
        exponent--;
      }
    }
    if (bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
      at++;
      const below = bytes[at] === MINUS;
      if (below || bytes[at] === PLUS) at++;
      if (!isDigit(bytes[at])) throw this.#unexpected(at);
      let power = 0;
      for (; isDigit(bytes[at]); at++) power = Math.min(power * 10 + (bytes[at] - ZERO), 1e6);
      exponent += below ? -power : power;
    }
    this.at = at;
    const exact = digits <= EXACT_DIGITS_MAX && Math.abs(exponent) <= EXACT_EXPONENT_MAX;
    if (!exact) return Number(bytes.toString('latin1', start, at));
    const value = exponent < 0 ? mantissa / POWERS_OF_TEN[-exponent] : mantissa * POWERS_OF_TEN[exponent];
    return negative ? -value : value;
  }

  /** Passes over one value of any kind and depth. Its memory is one bit per level of nesting. */
  skipValue(): void {
    const first = this.#next();
    if (first !== LEFT_BRACE && first !== LEFT_BRACKET) {
      this.#skipScalar(first);
      return;
    }
    const open = new BitStack();
    do {
      const byte = this.#next();
      if (byte === LEFT_BRACE || byte === LEFT_BRACKET) {
        this.at++;
        const isObject = byte === LEFT_BRACE;
        if (!this.#accept(isObject ? RIGHT_BRACE : RIGHT_BRACKET)) {
          open.push(isObject);
          if (isObject) this.#skipName();
          continue;
        }
      } else this.#skipScalar(byte);
      // After a value: the next item, or the end of what is open.
      while (open.size > 0) {
        const isObject = open.top;
        if (this.#accept(COMMA)) {
          if (isObject) this.#skipName();
          break;
        }
        this.#expect(isObject ? RIGHT_BRACE : RIGHT_BRACKET);
        open.pop();
      }
    } while (open.size > 0);
  }

  /** Throws when anything but white space follows. */
  end(): void {
    this.#skipSpace();
    if (this.at < this.#bytes.length) throw this.#unexpected();
  }

  #skipScalar(byte: number): void {
    if (byte === QUOTE) this.#skipString();
    else if (byte === MINUS || isDigit(byte)) this.#number();
    else this.#skipLiteral();
  }

  #skipName(): void {
    if (this.#next() !== QUOTE) throw this.#unexpected();
    this.#skipString();
    this.#expect(COLON);
  }

  /** True if it contains escapes. */
  #skipString(): boolean {
    const bytes = this.#bytes;
    if (bytes[this.at] !== QUOTE) throw this.#unexpected();
    let escaped = false;
    let at = this.at + 1;
    for (; bytes[at] !== QUOTE; at++) {
      if (at >= bytes.length || bytes[at] < SPACE) throw this.#unexpected(at);
      if (bytes[at] !== BACKSLASH) continue;
      escaped = true;
      at++;
      const sequence = bytes.toString('latin1', at, at + 5);
      if (!/^(?:["\\/bfnrt]|u[\da-fA-F]{4})/.test(sequence)) throw this.#unexpected(at);
    }
    this.at = at + 1;
    return escaped;
  }

  #skipLiteral(): void {
    const literal = LITERALS.get(this.#bytes[this.at]);
    if (literal === undefined) throw this.#unexpected();
    if (!this.#bytes.subarray(this.at, this.at + literal.length).equals(literal)) throw this.#unexpected();
    this.at += literal.length;
  }

  #next(): number {
    this.#skipSpace();
    if (this.at >= this.#bytes.length) throw this.#unexpected();
    return this.#bytes[this.at];
  }

  #skipSpace(): void {
    const bytes = this.#bytes;
    for (;;) {
      const byte = bytes[this.at];
      if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) return;
      this.at++;
    }
  }

  #accept(byte: number): boolean {
    if (this.#next() !== byte) return false;
    this.at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#accept(byte)) throw this.#unexpected();
  }

  #unexpected(at = this.at): JsonSyntaxError {
    if (at >= this.#bytes.length) return new JsonSyntaxError('Unexpected end of JSON input');
    const byte = this.#bytes[at];
    const shown = byte > SPACE && byte < 0x7f ? `'${String.fromCharCode(byte)}'` : `0x${byte.toString(16)}`;
    return new JsonSyntaxError(`Unexpected ${shown} at byte ${at}`);
  }
}
