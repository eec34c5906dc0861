import type { OptionReader } from './option-reader.ts';
import type { Option } from './options.ts';
import { mustBe } from './problems.ts';

/** The text of a file. Throws where it cannot be read. */
export type ReadFile = (path: string) => string;

/** The text of a file that a setting names; null and a problem where it cannot be read. */
export function readNamedFile(
  { key, path }: { readonly key: string; readonly path: string },
  readFile: ReadFile,
  problems: string[],
): string | null {
  try {
    return readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`${mustBe(key, 'the path of a readable file', path)} (${reason})`);
    return null;
  }
}

/** The text of a PEM file; undefined where it is unset, or a problem was reported. */
export function readPem(reader: OptionReader, option: Option<string>, readFile: ReadFile): string | undefined {
  const path = reader.read(option);
  if (path === undefined) return undefined;
  const content = readNamedFile({ key: reader.nameOf(option), path }, readFile, reader.problems);
  if (content === null) return undefined;
  if (!content.includes('-----BEGIN ')) {
    reader.problems.push(mustBe(reader.nameOf(option), 'the path of a PEM file', path));
  }
  return content;
}
