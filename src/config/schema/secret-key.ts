import Type, { type TSchema } from 'typebox';
import { type Kind, text } from './kinds.ts';
import { readNamedFile } from './named-file.ts';
import type { MappingPlace } from './place.ts';
import type { Key } from './schema.ts';

interface SecretKeyOptions {
  /** True if the file itself may have it, too, under its own name. */
  readonly plain?: boolean;
  readonly required?: boolean;
}

/**
 * A key whose value is elsewhere: `KEY_env` names a variable, `KEY_file` a file. undefined if it is missing, or
 * where a reference leads nowhere and was reported. The value itself is in no problem.
 */
export function secretKey(
  kind: Kind<string>,
  description: string,
  { plain = false, required = false }: SecretKeyOptions = {},
): Key<string | undefined> {
  const read = (name: string, place: MappingPlace) => {
    const [envKey, fileKey] = [`${name}_env`, `${name}_file`];
    const used = [...(plain ? [name] : []), envKey, fileKey].filter((key) => place.has(key));
    if (used.length === 0 && required) {
      const [first, ...others] = plain ? [name, envKey, fileKey] : [envKey, fileKey];
      const expected = [plain ? kind.expected : 'set', ...others.map((key) => `or ${key}`)].join(plain ? '; ' : ', ');
      place.problem(first, expected, undefined);
    }
    for (const key of used.slice(1)) place.problem(key, `absent, because ${used[0]} is set`, 'a text');
    const value = used.length === 0 ? undefined : referred(place, used[0], { envKey, fileKey });
    if (value === undefined || kind.parse(value) !== undefined) return value;
    place.problem(used[0], used[0] === name ? kind.expected : `the place of ${kind.expected}`, 'another text');
    return undefined;
  };
  const schemas = (name: string): Readonly<Record<string, TSchema>> => {
    const elsewhere = (place: string) =>
      Type.Optional({ ...text.schema, description: `${place} ${description}` } as TSchema);
    return {
      ...(plain ? { [name]: Type.Optional({ ...kind.schema, description } as TSchema) } : {}),
      [`${name}_env`]: elsewhere(`A variable that holds \`${name}\`.`),
      [`${name}_file`]: elsewhere(`A file that holds \`${name}\`.`),
    };
  };
  return { schemas, read };
}

function referred(
  place: MappingPlace,
  key: string,
  { envKey, fileKey }: { readonly envKey: string; readonly fileKey: string },
): string | undefined {
  const { node, at } = place.value(key);
  const named = text.read(node!, at);
  if (named === undefined) return undefined;
  const { env, readFile } = place.secrets;
  if (key === envKey) {
    if (env[named]) return env[named];
    place.problem(key, 'the name of a variable that is set', named);
    return undefined;
  }
  if (key !== fileKey) return named;
  const content = readNamedFile({ key, path: named }, readFile, [])?.replace(/\r?\n$/, '');
  if (!content) place.problem(key, 'the path of a readable file that is not empty', named);
  return content || undefined;
}
