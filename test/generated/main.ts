/**
 * `npm run generate`: writes every generated file. `npm run generate -- golden` also writes the golden files of state
 * that are missing in the present format; it changes no changelog of an existing file.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeGoldenFiles } from '../golden/changelog/golden-run.ts';
import { ROOT } from '../tidy/project.ts';
import { GENERATED } from './generated-files.ts';

for (const [path, make] of Object.entries(GENERATED)) {
  const text = await make();
  writeFileSync(new URL(path, ROOT), text);
}
if (process.argv.includes('golden')) await writeGoldenFiles();
const biome = fileURLToPath(new URL('node_modules/.bin/biome', ROOT));
process.exitCode = spawnSync(biome, ['format', '--write', 'schemas'], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
