/** The files of the project, as the rules see them. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

export const ROOT = new URL('../../', import.meta.url);
/** The rules quote what they forbid. */
const isRule = (path: string) => /^test\/tidy[./]/.test(path);

export const IGNORED = new Set([
  '.git',
  ...readFileSync(new URL('.gitignore', ROOT), 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''))
    .filter((line) => line !== ''),
]);

/** Paths of all files below a folder, relative to the root; what git ignores by name is left out. */
export function filesBelow(folder: string): string[] {
  if (!existsSync(new URL(folder, ROOT))) return [];
  return readdirSync(new URL(folder === '' ? './' : `${folder}/`, ROOT), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

export const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
export const room = (path: string) => /^src\/(?:([\w-]+)\/)?/.exec(path)?.[1] ?? posix.basename(path, '.ts');

export const texts = new Map(
  ['.ci', 'deploy', 'schemas', 'src', 'test']
    .flatMap(filesBelow)
    .concat(readdirSync(ROOT).filter((name) => /\.(md|ya?ml)$/.test(name)))
    .filter((path) => /\.(ts|py|sh|md|ya?ml|json|css|html|properties)$|\/Dockerfile$|^\.ci\//.test(path))
    .map((path) => [path, read(path)]),
);
export const sources = new Map([...texts].filter(([path]) => /^src\/.*\.ts$/.test(path)));
export const programs = new Map([...texts].filter(([path]) => path.endsWith('.ts')));

export interface Import {
  readonly path: string;
  readonly target: string;
  readonly typeOnly: boolean;
  /** It is started as a thread or process of its own. */
  readonly program: boolean;
}

/** `import ... from`, `export ... from`, `import(...)` and `new URL(..., import.meta.url)` of code. */
export function importsOf(files: ReadonlyMap<string, string>): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|new URL\('([^']+\.ts)', import\.meta\.url\)/gm;
  return [...files].flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map(([, type, target, dynamic, url]) => {
      return { path, target: target ?? dynamic ?? url, typeOnly: type !== undefined, program: url !== undefined };
    }),
  );
}

export const imports = importsOf(programs);
export const sourceImports = imports.filter(({ path }) => path.startsWith('src/'));
export const isRelative = ({ target }: Import) => target.startsWith('.');

/** Every program of the sandbox exports this name: the child imports it from a path that it is given. */
export const PROGRAM_NAME = 'sandboxed';

/** Fails with every offence, one a line. */
export function none(offences: readonly string[]): void {
  assert.equal(offences.length, 0, `\n${offences.join('\n')}`);
}

/** `path:line: match` of every match in these files. */
export function matches(files: ReadonlyMap<string, string>, pattern: RegExp): string[] {
  return [...files].flatMap(([path, text]) =>
    isRule(path)
      ? []
      : [...text.matchAll(pattern)].map((match) => {
          const line = text.slice(0, match.index).split('\n').length;
          return `${path}:${line}: ${match[0].trim()}`;
        }),
  );
}

interface PackageJson {
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function packageJson(): PackageJson {
  return JSON.parse(read('package.json'));
}
