import { readFileSync } from 'node:fs';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A module of the page, ready for a browser. */
interface LinkedModule {
  /** Unique among the modules of the page, such as `page/shell` or `preact/hooks`. */
  readonly name: string;
  readonly code: string;
}

/** The browser builds of the vendor packages. Nothing else of node_modules is ever read. */
const VENDOR_FILES: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.module.js',
  uplot: 'uplot/dist/uPlot.esm.js',
};

/** The specifier of an import or export, minified or not. */
const SPECIFIER = /\b(from|import)\s*(["'])([^"'\n]+)\2/g;

/** A file of a package, also one that the package does not export: browsers know no exports. */
function packageFile(path: string): string {
  const [name] = path.split('/', 1);
  const manifest = findPackageJSON(name, import.meta.url);
  if (manifest === undefined) throw new Error(`the package ${name} is not installed`);
  return join(dirname(manifest), path.slice(name.length + 1));
}

export const chartStyle = () => readFileSync(packageFile('uplot/dist/uPlot.min.css'), 'utf8');

/**
 * The entry and everything that it imports, the entry last. Types are stripped, as Node does with the code of the
 * service, so that there is no build step. `specifierOf` gives the name by which a browser finds a module: a path where
 * modules are served, a bare name where they are listed in an import map.
 */
export function linkModules(entry: URL, specifierOf: (name: string) => string): readonly LinkedModule[] {
  const linked = new Map<string, LinkedModule>();
  const link = (file: string, name: string): void => {
    if (linked.has(name)) return;
    // A circle would never end; modules of a page have none.
    linked.set(name, { name, code: '' });
    const text = readFileSync(file, 'utf8');
    const code = (extname(file) === '.ts' ? withoutTypes(text) : text)
      .replace(SPECIFIER, (_all, keyword: string, quote: string, specifier: string) => {
        const target = targetOf(specifier, file);
        link(target.file, target.name);
        return `${keyword} ${quote}${specifierOf(target.name)}${quote}`;
      })
      .replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, '\n');
    linked.delete(name);
    linked.set(name, { name, code });
  };
  const file = fileURLToPath(entry);
  link(file, ownName(file));
  return [...linked.values()];
}

function targetOf(specifier: string, importer: string): { readonly file: string; readonly name: string } {
  if (specifier.startsWith('.')) {
    const file = join(dirname(importer), specifier);
    return { file, name: ownName(file) };
  }
  const path = VENDOR_FILES[specifier];
  if (path === undefined) throw new Error(`${pathToFileURL(importer)} imports ${specifier}, which no page may load`);
  return { file: packageFile(path), name: specifier };
}

/** `page/shell` for `…/src/console/page/shell.ts`. */
const ownName = (file: string) => file.split('/').slice(-2).join('/').replace(/\.ts$/, '');

/** Line and column stay as they are in the source: types become spaces. */
function withoutTypes(text: string): string {
  const { emitWarning } = process;
  // Node warns once that the function is experimental. The service itself runs by the same stripping.
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(text);
  } finally {
    process.emitWarning = emitWarning;
  }
}
