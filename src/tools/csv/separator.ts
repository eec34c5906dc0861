/** Separators of the fields of a row, with their names. */
export const SEPARATORS = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' } as const;
export type Separator = keyof typeof SEPARATORS;

/** Bytes in which the first line is looked for. */
const HEAD_BYTES_MAX = 64 * 1024;
const FIRST_LINE = /^\s*\S.*[\r\n]/;

/** Reads chunks until the first line that is not empty is there, and finds its separator. */
export async function readHead(source: AsyncIterator<Buffer | string>) {
  const chunks: (Buffer | string)[] = [];
  const decoder = new TextDecoder();
  let begin = '';
  while (begin.length < HEAD_BYTES_MAX && !FIRST_LINE.test(begin)) {
    const { done, value } = await source.next();
    if (done) break;
    chunks.push(value);
    begin += typeof value === 'string' ? value : decoder.decode(value, { stream: true });
  }
  return { chunks, separator: separatorOf(begin) };
}

/** The most frequent separator of the first line, outside of quotes; a comma if there is none. */
function separatorOf(begin: string): Separator {
  const [line = ''] = begin.split(/[\r\n]+/).filter((text) => text.trim() !== '');
  const bare = line.replace(/"[^"]*"/g, '');
  const counted = (Object.keys(SEPARATORS) as Separator[]).map((separator) => {
    return { separator, count: bare.split(separator).length - 1 };
  });
  return counted.reduce((most, next) => (next.count > most.count ? next : most)).separator;
}
