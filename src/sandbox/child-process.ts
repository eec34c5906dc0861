import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** What a child may be and take. */
export interface ChildOptions {
  /** The module that exports `sandboxed`. */
  readonly entry: URL;
  /** Folders and files that it may read, besides the sources and packages of this program. */
  readonly readable: readonly string[];
  /** Heap of JavaScript, MiB. */
  readonly heapMbMax: number;
  /** The largest input, bytes. */
  readonly inputBytesMax: number;
}

/** One child: its link and what it prints where errors go. */
export interface Child {
  readonly process: ChildProcess;
  readonly link: Duplex;
  /** The end of what it printed there. */
  complaints(): string;
}

/** Behind everybody who waits for an answer: it gets the processors that are idle, and little beside those who are not. */
const NICENESS = 10;
const LINK_FD = 3;
const COMPLAINTS_LENGTH_MAX = 8_192;

const ROOT = new URL('../../', import.meta.url);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const ofRoot = (name: string) => fileURLToPath(new URL(name, ROOT));

/** The same path, and where it leads when it is a link. */
function readFlags(path: string): string[] {
  return [...new Set([path, realpathSync(path)])].map((allowed) => `--allow-fs-read=${allowed}`);
}

/**
 * Starts a child that may read what it is made of and what `readable` names, write nothing, start nothing, and knows nothing of the environment. Native packages load,
 * and they are held by none of this but the limits of the process.
 */
export function startChild({ entry, readable, heapMbMax, inputBytesMax }: ChildOptions): Child {
  const paths = [ofRoot('src/'), ofRoot('node_modules/'), ofRoot('package.json'), ...readable];
  const flags = [
    '--permission',
    ...paths.flatMap(readFlags),
    '--allow-addons',
    '--allow-worker',
    '--no-warnings',
    `--max-old-space-size=${heapMbMax}`,
    `--require=${here('refusals.ts')}`,
  ];
  const args = [here('child.ts'), entry.href, String(process.pid), String(inputBytesMax)];
  const child = spawn(process.execPath, [...flags, ...args], {
    env: {},
    cwd: fileURLToPath(ROOT),
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) yieldToOthers(child.pid);
  let complaints = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINTS_LENGTH_MAX);
  });
  const link = child.stdio[LINK_FD] as Duplex;
  // A child that was killed does not read what is written to it.
  link.on('error', () => {});
  return { process: child, link, complaints: () => complaints };
}

/** Before it has threads: they inherit what it is. */
function yieldToOthers(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // It has ended already, or the platform has no priorities.
  }
  // Where the machine runs out of memory, the child goes first. There is no such thing outside Linux.
  void writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => {});
}

/** Memory that a process holds, bytes; null when that cannot be known. */
export async function residentBytes(pid: number): Promise<number | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(status);
  return found === null ? null : Number(found[1]) * 1_024;
}
