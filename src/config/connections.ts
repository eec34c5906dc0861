import type { KafkaConfig, RegistryConfig } from './config.ts';
import { type ReadFile, readPem } from './named-file.ts';
import type { OptionReader } from './option-reader.ts';
import { options } from './options.ts';
import { readSasl } from './sasl-section.ts';
import { readSecret } from './secrets.ts';

const REGISTRY_PASSWORD = { value: options.registryPassword, file: options.registryPasswordFile };

/** How to reach Kafka; null without brokers. Every option is checked all the same. */
export function readKafka(reader: OptionReader, readFile: ReadFile): KafkaConfig | null {
  const brokers = reader.read(options.brokers);
  const clientId = reader.readOr(options.clientId);
  const tls = readTls(reader, readFile);
  const sasl = readSasl(reader, readFile);
  return brokers === undefined ? null : { brokers, clientId, tls, sasl };
}

function readTls(reader: OptionReader, readFile: ReadFile): KafkaConfig['tls'] {
  const on = reader.read(options.tls);
  if (on === undefined && reader.isSet(options.tls)) return null;
  const parts = [options.tlsCa, options.tlsCert, options.tlsKey, options.tlsRejectUnauthorized];
  if (!on) {
    for (const part of parts.filter((part) => reader.isSet(part))) {
      reader.problems.push(`${reader.nameOf(part)} is set, but ${options.tls.env} is not true`);
    }
    return null;
  }
  reader.bothOrNone(options.tlsCert, options.tlsKey);
  const ca = readPem(reader, options.tlsCa, readFile);
  const cert = readPem(reader, options.tlsCert, readFile);
  const key = readPem(reader, options.tlsKey, readFile);
  const rejectUnauthorized = reader.readOr(options.tlsRejectUnauthorized);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    rejectUnauthorized,
    files: filesOf(reader),
  };
}

function filesOf(reader: OptionReader) {
  const [ca, cert, key] = [options.tlsCa, options.tlsCert, options.tlsKey].map((option) => reader.read(option));
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

/** The schema registry; null without a URL. */
export function readRegistry(reader: OptionReader, readFile: ReadFile): RegistryConfig | null {
  const url = reader.read(options.registryUrl);
  const username = reader.read(options.registryUsername);
  const password = readSecret(reader, REGISTRY_PASSWORD, readFile);
  const passwordOption = reader.isSet(options.registryPasswordFile)
    ? options.registryPasswordFile
    : options.registryPassword;
  reader.bothOrNone(options.registryUsername, passwordOption);
  if (username !== undefined && !reader.isSet(options.registryUrl)) {
    reader.problem(options.registryUrl, `set, as ${reader.nameOf(options.registryUsername)} is`);
  }
  if (url === undefined) return null;
  return username !== undefined && password !== undefined ? { url, username, password } : { url };
}
