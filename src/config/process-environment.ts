import { constants, enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { WITHOUT_REPORTS } from '../sandbox/without-reports.ts';

/** Node's own variable, which overrides the folder. */
const FOLDER = 'NODE_COMPILE_CACHE';

/**
 * Modules are kept as they were compiled. The next start reads them, in its threads too, which then do not load the
 * compiler of types: it takes some 13 MB in each. Without a folder that can be written they are compiled as usual.
 */
export function keepCompiledModules(): void {
  const folder = process.env[FOLDER] ?? compiledFolder();
  if (folder === null) return;
  const { status } = enableCompileCache(folder);
  if (status === constants.compileCacheStatus.ENABLED) process.env[FOLDER] = folder;
}

/** Turns off the reports of ONNX Runtime for this process, its threads and the programs that it starts. */
export function refuseReports(): void {
  Object.assign(process.env, WITHOUT_REPORTS);
}

/** null for a user without a home: some containers run as one. */
function compiledFolder(): string | null {
  try {
    return join(cacheFolder(), 'compiled');
  } catch {
    return null;
  }
}

/** Cache between runs: the jars of a local Kafka, the tools of pretraining. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'tidewatch');
}

/** True if standard output is a terminal that shows colours, and NO_COLOR is not set. */
export function stdoutTakesColour(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb';
}
