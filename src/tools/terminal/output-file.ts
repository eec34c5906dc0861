import { type FileHandle, open } from 'node:fs/promises';
import { ServiceError } from '../../ops/service-error.ts';

/** A file for what a command writes. Throws a ServiceError `configuration` when it cannot be written. */
export async function openOutput(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'w');
  } catch (error) {
    throw new ServiceError('configuration', `Cannot write ${path}: ${(error as Error).message}`, { cause: error });
  }
}
