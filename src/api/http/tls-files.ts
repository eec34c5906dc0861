import { readFile } from 'node:fs/promises';
import { createSecureContext, type Server } from 'node:tls';
import type { Logger } from '../../ops/logger.ts';
import { ServiceError } from '../../ops/service-error.ts';

/** PEM files. */
export interface TlsPaths {
  readonly certPath: string;
  readonly keyPath: string;
}

export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

/** Polled, since watchers do not see the files of a mounted secret change. */
const CHECK_MS = 10_000;

/** Reads certificate and key. Throws a ServiceError `configuration` when they cannot be read, or do not fit. */
export async function readTls({ certPath, keyPath }: TlsPaths): Promise<TlsMaterial> {
  try {
    const [cert, key] = await Promise.all([certPath, keyPath].map((path) => readFile(path, 'utf8')));
    // A file that is being written may be empty for a moment, which a context would take for none.
    if (![cert, key].every((text) => text.includes('-----END '))) throw new Error('one of them is incomplete');
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    const text = `${certPath} and ${keyPath} are no certificate and its key (${(error as Error).message})`;
    throw new ServiceError('configuration', `${text}; set HTTP_TLS_CERT and HTTP_TLS_KEY`, { cause: error });
  }
}

interface Renewal {
  readonly paths: TlsPaths;
  readonly logger: Logger;
  readonly checkMs?: number;
}

/**
 * Reads the files again every few seconds. New ones serve the connections from then on; while they do not fit each
 * other the old ones are kept. Ends with the server.
 */
export function renewTls(server: Server, current: TlsMaterial, { paths, logger, checkMs = CHECK_MS }: Renewal): void {
  let [used, trouble] = [current, ''];
  const check = async () => {
    try {
      const found = await readTls(paths);
      trouble = '';
      if (found.cert === used.cert && found.key === used.key) return;
      server.setSecureContext(found);
      used = found;
      logger.info({ certPath: paths.certPath }, 'the certificate was renewed');
    } catch (error) {
      const { message } = error as Error;
      if (message !== trouble) logger.error({ err: error }, 'the certificate is not renewed');
      trouble = message;
    }
  };
  const timer = setInterval(() => void check(), checkMs).unref();
  server.once('close', () => clearInterval(timer));
}
