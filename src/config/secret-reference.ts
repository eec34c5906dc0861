import { readFileSync } from 'node:fs';
import { text } from './kinds.ts';
import { readNamedFile } from './named-file.ts';
import type { Environment } from './option-reader.ts';
import type { Section } from './yaml-section.ts';

/** Where a file of settings finds what must not stand in it. */
export interface SecretSource {
  readonly env: Environment;
  /** Throws where the file cannot be read. */
  readonly readFile: (path: string) => string;
}

/** Environment and files of this process. */
export const processSecrets: SecretSource = { env: process.env, readFile: (path) => readFileSync(path, 'utf8') };

/**
 * The secret of a section, by reference: `KEY_env` names a variable, `KEY_file` a file. undefined where there is no
 * reference, or where it leads nowhere and was reported. The secret itself is in no problem.
 */
export function readReferredSecret(section: Section, key: string, { env, readFile }: SecretSource): string | undefined {
  const [envKey, fileKey] = [`${key}_env`, `${key}_file`];
  const variable = section.read(envKey, text);
  const path = section.read(fileKey, text);
  if (variable !== undefined && path !== undefined) section.problem(fileKey, `absent, as ${envKey} is set`, path);
  if (variable !== undefined) {
    const value = env[variable];
    if (value) return value;
    section.problem(envKey, 'the name of a variable that is set', variable);
    return undefined;
  }
  if (path === undefined) return undefined;
  const problems: string[] = [];
  const content = readNamedFile({ key: fileKey, path }, readFile, problems)?.replace(/\r?\n$/, '');
  if (!content) section.problem(fileKey, 'the path of a readable file that is not empty', path);
  return content || undefined;
}

/** Whether a secret is referred to, also where the reference leads nowhere. */
export function refersToSecret(section: Section, key: string): boolean {
  return section.has(`${key}_env`) || section.has(`${key}_file`);
}
