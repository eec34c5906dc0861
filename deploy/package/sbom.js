/**
 * Prints the bill of materials. npm refuses a lock file with a bundled package whose own dependencies are overridden,
 * so it reads a copy without the bundle. Runs on any Node with npm.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const FORMAT = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];

const folder = mkdtempSync(join(tmpdir(), 'tidewatch-sbom-'));
try {
  const read = (name) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));
  const write = (name, content) => writeFileSync(join(folder, name), JSON.stringify(content));
  const { bundleDependencies: _, ...manifest } = read('package.json');
  const lock = read('package-lock.json');
  delete lock.packages[''].bundleDependencies;
  for (const entry of Object.values(lock.packages)) delete entry.inBundle;
  write('package.json', manifest);
  write('package-lock.json', lock);
  execFileSync('npm', ['sbom', '--package-lock-only', '--omit', 'dev', ...FORMAT], { cwd: folder, stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}
