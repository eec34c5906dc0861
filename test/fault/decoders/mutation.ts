/** Bytes that are nearly what a decoder reads. */

/** Of mutated bytes; a Kafka record has 1 MiB at most by default. */
const BYTES_MAX = 256 * 1024;

const TOKENS: readonly Buffer[] = [
  ...['"', '\\', '{', '}', '[', ']', ',', ':', '=', ' ', '\n', '\r\n', '#', 'NaN', '-Infinity', '1e999', '-0', 'null'],
  ...[
    '{"a":',
    '[[[[[[[[',
    '\\ud800',
    '\uFEFF',
    '\0',
    '__proto__',
    '__name__',
    'constructor',
    '&a',
    '*a',
    '<<: *a',
    '- ',
  ],
  ...[
    '9007199254740993',
    '1767225600000',
    '18446744073709551615',
    '"asDouble"',
    '"fields"',
    '2e308',
    '0x10',
    'toString',
  ],
]
  .map((text) => Buffer.from(text))
  .concat(
    [
      [0xff, 0xff, 0xff, 0xff, 0x0f],
      [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
      [0x80, 0x80, 0x80, 0x80, 0x80],
      [0x0a, 0x00],
      [0x12, 0xff, 0x7f],
      [0x00, 0x00, 0x00, 0x00],
      [0xfe, 0xff, 0xff],
      [0x00, 0x00, 0x00, 0x00, 0x01],
      [0xc3, 0x28],
    ].map((bytes) => Buffer.from(bytes)),
  );

type Random = () => number;
const below = (random: Random, end: number) => Math.floor(random() * end);
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)];

/** One of several changes; `other` is another input of the corpus. */
function changed(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const at = below(random, bytes.length + 1);
  const end = Math.min(bytes.length, at + 1 + below(random, 32));
  const [before, part, after] = [bytes.subarray(0, at), bytes.subarray(at, end), bytes.subarray(end)];
  switch (below(random, 9)) {
    case 0: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[below(random, copy.length)] ^= 1 << below(random, 8);
      return copy;
    }
    case 1: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[below(random, copy.length)] = pick(random, [0, 1, 127, 128, 255, below(random, 256)]);
      return copy;
    }
    case 2:
      return Buffer.concat([before, after]);
    case 3:
      return Buffer.concat([before, pick(random, TOKENS), bytes.subarray(at)]);
    case 4:
      return Buffer.concat([before, pick(random, TOKENS), after]);
    case 5:
      return Buffer.concat([before, ...Array<Buffer>(2 + below(random, 8)).fill(part), after]);
    case 6: {
      const from = below(random, other.length + 1);
      return Buffer.concat([before, other.subarray(from, from + 1 + below(random, 64)), after]);
    }
    case 7:
      return bytes.subarray(0, at);
    default: {
      // What costs more than it is long shows in many of it.
      const repeats = 1 << below(random, 14);
      const some = part.length === 0 ? pick(random, TOKENS) : part;
      const many = Array<Buffer>(Math.min(repeats, Math.ceil(BYTES_MAX / some.length))).fill(some);
      return Buffer.concat([before, ...many, after]);
    }
  }
}

/** A changed input of the corpus, or nothing but chance. */
export function mutated(corpus: readonly Buffer[], random: Random): Buffer {
  if (random() < 0.02) return Buffer.from(Array.from({ length: below(random, 300) }, () => below(random, 256)));
  let bytes = pick(random, corpus);
  for (let changes = 1 + below(random, 6); changes > 0; changes--) bytes = changed(bytes, pick(random, corpus), random);
  return bytes.subarray(0, BYTES_MAX);
}
