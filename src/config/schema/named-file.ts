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
