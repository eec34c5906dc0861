/**
 * Before `npm pack`: the sources as JavaScript in lib/, because Node runs no TypeScript below node_modules. Types
 * become spaces, so that lines and columns of errors are those of the sources. A clone needs no such step.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { licencesFile } from './licences.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src');
const LIB = join(ROOT, 'lib');

/** Files that are read at run time: graphs and weights, style sheets, what the local Kafka is made of. */
const READ = ['models/pretrained/*/*', 'console/style/*.css', 'demo/demo.json', 'demo/local-kafka/pom.xml'];

/** A file beside the importing one, in an import or as the address of a thread, a program or a page. */
const OWN_FILE = /(['"])(\.{1,2}\/[^'"\n]+)\.ts\1/g;

rmSync(LIB, { recursive: true, force: true });
mkdirSync(LIB);
for (const pattern of READ) {
  const paths = globSync(pattern, { cwd: SOURCES });
  if (paths.length === 0) throw new Error(`no file of src matches ${pattern}: the package would not run`);
  for (const path of paths) cpSync(join(SOURCES, path), join(LIB, path));
}
for (const path of globSync('**/*.ts', { cwd: SOURCES })) {
  const target = join(LIB, path.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, published(readFileSync(join(SOURCES, path), 'utf8')));
}
cpSync(join(import.meta.dirname, 'launcher.js'), join(LIB, 'tidewatch.js'));
writeFileSync(join(LIB, 'THIRD-PARTY-LICENCES.txt'), licencesFile());

/** As JavaScript, with the command's name where texts have npm's. */
function published(source: string): string {
  return stripTypeScriptTypes(source)
    .replace(OWN_FILE, '$1$2.js$1')
    .replaceAll('npm start --', 'tidewatch')
    .replaceAll('npm start', 'tidewatch start')
    .replace(/[ \t]+$/gm, '');
}
