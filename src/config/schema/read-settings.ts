import { readFileSync } from 'node:fs';
import { mustBeSentence, type SecretSource, SettingsPlace } from './place.ts';
import type { Setting } from './schema.ts';
import { type LineProblem, parseSettingsText, settingsProblems } from './settings-text.ts';

export const processSecrets: SecretSource = { env: process.env, readFile: (path) => readFileSync(path, 'utf8') };

export interface SettingsFile {
  /** Problems begin with it. */
  readonly name: string;
  readonly content: string;
  readonly secrets?: SecretSource;
}

/**
 * Reads a text of settings whose top is a mapping; undefined if nothing in it can be trusted. Adds every problem to
 * `problems`, with file, line and field.
 */
export function readSettings<T>(
  { name, content, secrets = processSecrets }: SettingsFile,
  setting: Setting<T>,
  problems: string[],
): T | undefined {
  const root = parseSettingsText(name, content, problems);
  if (root === null) return undefined;
  if (root.kind !== 'mapping') {
    problems.push(mustBeSentence(name, 'a mapping', root));
    return undefined;
  }
  const found: LineProblem[] = [];
  const value = setting.read(root, new SettingsPlace({ secrets, found }, '', root.line));
  problems.push(...settingsProblems(name, found));
  return value;
}
