import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { SandboxProgram } from './program.ts';
import type { SandboxLimits } from './sandbox-run.ts';
import { WITHOUT_REPORTS } from './without-reports.ts';

/** A child process, its socket and its standard error. */
export interface Child {
  readonly process: ChildProcess;
  readonly link: Duplex;
  /** The last characters of standard error. */
  stderrTail(): string;
}

const LINK_FD = 3;
const STDERR_LENGTH_MAX = 8_192;

const RESTRICTIONS = fileURLToPath(new URL('./restrictions.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./child.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The sources, and the schemas and packages that they import: an installed package is next to those. */
const OWN_FILES = [
  fileURLToPath(new URL('../', import.meta.url)),
  join(ROOT, 'package.json'),
  join(ROOT, 'schemas/'),
  ...[join(ROOT, 'node_modules/'), join(ROOT, '../')].filter(
    (folder) => basename(folder) === 'node_modules' && existsSync(folder),
  ),
];

/** Permission flags of a path, and of its target when it is a symbolic link. */
function readFlags(path: string): string[] {
  return [...new Set([path, realpathSync(path)])].map((allowed) => `--allow-fs-read=${allowed}`);
}

/**
 * Starts a child that may read its sources and `readable`, write no files, start no processes, and has nothing of the
 * environment. Native addons load; only the limits of the process apply to them. Throws when the system has no room
 * for another process; a child that ends later emits `error` or `close`.
 */
export function startChild(
  { entry, readable }: SandboxProgram,
  { heapMbMax, inputBytesMax, niceness }: SandboxLimits,
): Child {
  const flags = [
    '--permission',
    ...[...OWN_FILES, ...readable].flatMap(readFlags),
    '--allow-addons',
    '--allow-worker',
    '--no-warnings',
    `--max-old-space-size=${heapMbMax}`,
    `--require=${RESTRICTIONS}`,
  ];
  const args = [PROGRAM, entry.href, String(process.pid), String(inputBytesMax)];
  const child = spawn(process.execPath, [...flags, ...args], {
    env: WITHOUT_REPORTS,
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let failure: Error | null = null;
  child.on('error', (error) => {
    failure = error;
  });
  const link = child.stdio?.[LINK_FD] as Duplex | null | undefined;
  // Without free file descriptors Node makes no pipes.
  if (!child.stderr || !link) throw new Error('there is no room for another process');
  if (child.pid !== undefined) lowerPriority(child.pid, niceness);
  let stderrTail = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_LENGTH_MAX);
  });
  // Writing to a killed child fails.
  link.on('error', () => {});
  return { process: child, link, stderrTail: () => (failure === null ? stderrTail : failure.message) };
}

/** Called before the child has threads, because they inherit its priority. */
function lowerPriority(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness);
  } catch {
    // The child has ended already, or the platform has no priorities.
  }
  // Out of memory, the kernel kills the child first. Linux only.
  void writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => {});
}

/** Resident memory of a process, bytes; null when it is unknown. */
export async function residentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return found === null ? null : Number(found[1]) * 1_024;
}
