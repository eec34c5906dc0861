import { open } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { ServiceError } from '../../ops/service-error.ts';

export const STANDARD_INPUT = '-';

/**
 * The bytes of a file, or of standard input for `-`; reading them rejects when `stop` aborts. `share` of them was read,
 * 0 to 1; null if their number is not known.
 * Throws ServiceError `configuration` when the file cannot be read.
 */
export async function openInput(path: string, stop: AbortSignal) {
  if (path === STANDARD_INPUT) return { bytes: addAbortSignal(stop, process.stdin), share: () => null };
  try {
    const file = await open(path);
    const found = await file.stat();
    if (!found.isDirectory()) {
      const bytes = file.createReadStream();
      return {
        bytes: addAbortSignal(stop, bytes),
        share: () => (found.size > 0 ? bytes.bytesRead / found.size : null),
      };
    }
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
