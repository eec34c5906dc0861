import { type ReadFile, readNamedFile } from './named-file.ts';
import type { OptionReader } from './option-reader.ts';
import type { Option } from './options.ts';
import { mustBe } from './problems.ts';

/** A secret, and the option that names a file with it. */
export interface SecretOptions<T> {
  readonly value: Option<T>;
  readonly file: Option<string>;
}

export function isSecretSet(reader: OptionReader, { value, file }: SecretOptions<unknown>): boolean {
  return reader.isSet(value) || reader.isSet(file);
}

/** The secret itself, or the text of its file without the line break that editors put at the end. */
export function readSecret<T>(
  reader: OptionReader,
  { value, file }: SecretOptions<T>,
  readFile: ReadFile,
): T | undefined {
  const given = reader.read(value);
  const path = reader.read(file);
  if (path === undefined) return given;
  const name = reader.nameOf(file);
  if (reader.isSet(value)) reader.problems.push(`${value.env} and ${name} are both set; set one of them`);
  const content = readNamedFile({ key: name, path }, readFile, reader.problems)?.replace(/\r?\n$/, '');
  if (content === undefined) return undefined;
  if (content === '') {
    reader.problems.push(mustBe(name, 'the path of a file that is not empty', path));
    return undefined;
  }
  const secret = value.kind.parse(content);
  if (secret === undefined) {
    reader.problems.push(`${name} must name a file that holds ${value.kind.expected}, got a value that is not shown`);
  }
  return secret;
}
