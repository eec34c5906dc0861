import type { HttpConfig } from './config.ts';
import { type ReadFile, readPem } from './named-file.ts';
import type { OptionReader } from './option-reader.ts';
import { options } from './options.ts';
import { readSecret } from './secrets.ts';

/** Address, TLS, first key and limits of the HTTP service. */
export function readHttp(reader: OptionReader, readFile: ReadFile): HttpConfig {
  const apiKey = { value: options.apiKey, file: options.apiKeyFile };
  return {
    host: reader.readOr(options.httpHost),
    port: reader.readOr(options.httpPort),
    tls: readTlsPaths(reader, readFile),
    trustedProxies: reader.read(options.httpTrustedProxies) ?? [],
    corsOrigins: reader.read(options.httpCorsOrigins) ?? [],
    connectionsMax: reader.readOr(options.httpConnectionsMax),
    connectionsPerAddressMax: reader.readOr(options.httpConnectionsPerAddressMax),
    apiKey: readSecret(reader, apiKey, readFile) ?? null,
    drainMs: reader.readOr(options.drainMs),
    jobsInFlightMax: reader.readOr(options.jobsInFlightMax),
    jobMemoryMbMax: reader.readOr(options.jobMemoryMbMax),
    finetunedModelsMax: reader.readOr(options.finetunedModelsMax),
  };
}

/** The paths, not the texts: the service reads the files again when they change. */
function readTlsPaths(reader: OptionReader, readFile: ReadFile): HttpConfig['tls'] {
  reader.bothOrNone(options.httpTlsCert, options.httpTlsKey);
  for (const option of [options.httpTlsCert, options.httpTlsKey]) readPem(reader, option, readFile);
  const [certPath, keyPath] = [reader.read(options.httpTlsCert), reader.read(options.httpTlsKey)];
  return certPath === undefined || keyPath === undefined ? null : { certPath, keyPath };
}
