import { open } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { ServiceError } from '../../ops/service-error.ts';

export const STANDARD_INPUT = '-';

/**
 * The bytes of a file, or of standard input for `-`; reading them rejects when `stop` aborts.
 * Throws ServiceError `configuration` when the file cannot be read.
 */
export async function openInput(path: string, stop: AbortSignal): Promise<Readable> {
  if (path === STANDARD_INPUT) return addAbortSignal(stop, process.stdin);
  try {
    const file = await open(path);
    if (!(await file.stat()).isDirectory()) return addAbortSignal(stop, file.createReadStream());
    await file.close();
  } catch (error) {
    throw new ServiceError('configuration', `Cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  throw new ServiceError('configuration', `Cannot read ${path}: it is a folder`);
}

/** The series of a file without a series column: its name without the extension. */
export function seriesOfFile(path: string): string {
  return path === STANDARD_INPUT ? 'stdin' : basename(path, extname(path));
}
