import { access, constants, type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ServiceError } from '../../ops/service-error.ts';

/** A file for what a command writes. Throws a ServiceError `configuration` when it cannot be written. */
export async function openOutput(path: string): Promise<FileHandle> {
  return open(path, 'w').catch((error: Error) => cannotWrite(path, error));
}

/** Lines of a command: written to the file, printed without one. Throws as `openOutput`. */
export async function openLines(path: string | undefined, print: (line: string) => void) {
  const file = path === undefined ? null : await openOutput(path);
  return {
    async write(lines: readonly string[]): Promise<void> {
      if (file !== null) await file.appendFile(lines.map((line) => `${line}\n`).join(''));
      else for (const line of lines) print(line);
    },
    close: async () => file?.close(),
  };
}

/** Refuses paths that cannot be written before the work that makes their content. Changes nothing. */
export async function requireWritable(...paths: readonly (string | undefined)[]): Promise<void> {
  for (const path of paths.filter((one) => one !== undefined)) {
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory()) cannotWrite(path, new Error('it is a folder'));
    const place = found === null ? `${dirname(resolve(path))}/.` : path;
    await access(place, constants.W_OK).catch((error: Error) => cannotWrite(path, error));
  }
}

/** Refuses to replace a file that people edit. Throws a ServiceError `configuration`. */
export async function requireAbsent(path: string, flag: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) return;
  throw new ServiceError('configuration', `${path} exists: name another file, or replace it with ${flag}`);
}

function cannotWrite(path: string, error: Error): never {
  throw new ServiceError('configuration', `Cannot write ${path}: ${error.message}`, { cause: error });
}
