/** `npm run -s licences`: the licences of all packages that run with this one, with their texts. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const TEXT_FILE = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;
const RULE = '-'.repeat(80);

interface LockedPackage {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
}

export interface ThirdParty {
  /** Where it is installed. */
  readonly path: string;
  /** Name and version. */
  readonly name: string;
  /** SPDX expression; null where the package names none. */
  readonly licence: string | null;
}

/** What is installed without the tools of developers, as the lock file has it, on any platform. */
export function thirdParties(): readonly ThirdParty[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { name, version, license }]) => {
      const known = name ?? path.replace(/^.*node_modules\//, '');
      return { path, name: `${known} ${version}`, licence: license ?? null };
    });
}

/** Names with their licences, then each text once, with the packages that it is of. */
export function licencesFile(): string {
  const parties = thirdParties();
  const names = new Set(parties.map(({ name, licence }) => `${name}: ${licence}`));
  const byText = Map.groupBy(
    parties.flatMap((party) => textsOf(party.path).map((text) => ({ name: party.name, text }))),
    ({ text }) => text,
  );
  const texts = [...byText].map(([text, of]) => {
    return `${RULE}\n${[...new Set(of.map(({ name }) => name))].join(', ')}\n\n${text}\n`;
  });
  return `Packages that run with Tidewatch, and their licences\n\n${[...names].join('\n')}\n\n${texts.join('\n')}`;
}

/** None of a package for another platform. */
function textsOf(path: string): readonly string[] {
  const folder = join(ROOT, path);
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => TEXT_FILE.test(file)) : [];
  return files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
}

if (import.meta.main) process.stdout.write(licencesFile());
