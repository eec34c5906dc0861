import { readFileSync, statSync } from 'node:fs';
import type { KafkaConfig } from '../../config/config.ts';

/**
 * TLS options of connections. Each new connection reads the PEM files again that have changed: certificates are
 * replaced before they expire, without a restart.
 */
export function tlsOptions({ ca, cert, key, rejectUnauthorized, files = {} }: NonNullable<KafkaConfig['tls']>) {
  const pems = { ca: changingPem(files.ca, ca), cert: changingPem(files.cert, cert), key: changingPem(files.key, key) };
  return {
    rejectUnauthorized,
    get ca() {
      return pems.ca();
    },
    get cert() {
      return pems.cert();
    },
    get key() {
      return pems.key();
    },
  };
}

/** The content of a file; the last one that could be read while it is missing or half-written. */
function changingPem(path: string | undefined, first: string | undefined): () => string | undefined {
  let content = first;
  let changedMs: number | null = null;
  return () => {
    if (path === undefined) return content;
    try {
      const { mtimeMs } = statSync(path);
      if (mtimeMs === changedMs) return content;
      const read = readFileSync(path, 'utf8');
      if (!read.includes('-----END ')) return content;
      changedMs = mtimeMs;
      content = read;
    } catch {
      // It is being replaced.
    }
    return content;
  };
}
