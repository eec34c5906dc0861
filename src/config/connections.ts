import type { KafkaConfig, RegistryConfig } from './config.ts';
import type { OptionReader } from './option-reader.ts';
import { type Option, options } from './options.ts';
import { mustBe } from './problems.ts';

/** The text of a file. Throws where it cannot be read. */
export type ReadFile = (path: string) => string;

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
  };
}

function readPem(reader: OptionReader, option: Option<string>, readFile: ReadFile): string | undefined {
  const path = reader.read(option);
  if (path === undefined) return undefined;
  const content = readNamedFile({ key: reader.nameOf(option), path }, readFile, reader.problems);
  if (content === null) return undefined;
  if (!content.includes('-----BEGIN ')) {
    reader.problems.push(mustBe(reader.nameOf(option), 'the path of a PEM file', path));
  }
  return content;
}

function readSasl(reader: OptionReader, readFile: ReadFile): KafkaConfig['sasl'] {
  const mechanism = reader.read(options.saslMechanism);
  const username = reader.read(options.saslUsername);
  const password = readPassword(reader, readFile);
  const parts = [options.saslUsername, options.saslPassword, options.saslPasswordFile];
  if (!reader.isSet(options.saslMechanism)) {
    if (parts.some((part) => reader.isSet(part))) {
      reader.problem(options.saslMechanism, options.saslMechanism.kind.expected);
    }
    return null;
  }
  const needs = `set, as ${reader.nameOf(options.saslMechanism)} is`;
  if (!reader.isSet(options.saslUsername)) reader.problem(options.saslUsername, needs);
  if (!reader.isSet(options.saslPassword) && !reader.isSet(options.saslPasswordFile)) {
    reader.problem(options.saslPassword, needs);
  }
  return mechanism && username && password ? { mechanism, username, password } : null;
}

/** The password itself, or the text of its file without the line break editors put at the end. */
function readPassword(reader: OptionReader, readFile: ReadFile): string | undefined {
  const password = reader.read(options.saslPassword);
  const path = reader.read(options.saslPasswordFile);
  if (path === undefined) return password;
  const name = reader.nameOf(options.saslPasswordFile);
  if (password !== undefined) {
    reader.problems.push(`${options.saslPassword.env} and ${name} are both set; set one of them`);
  }
  const content = readNamedFile({ key: name, path }, readFile, reader.problems)?.replace(/\r?\n$/, '');
  if (content === '') reader.problems.push(mustBe(name, 'the path of a file that is not empty', path));
  return content;
}

/** The schema registry; null without a URL. */
export function readRegistry(reader: OptionReader): RegistryConfig | null {
  const url = reader.read(options.registryUrl);
  const username = reader.read(options.registryUsername);
  const password = reader.read(options.registryPassword);
  reader.bothOrNone(options.registryUsername, options.registryPassword);
  if (username !== undefined && !reader.isSet(options.registryUrl)) {
    reader.problem(options.registryUrl, `set, as ${reader.nameOf(options.registryUsername)} is`);
  }
  if (url === undefined) return null;
  return username !== undefined && password !== undefined ? { url, username, password } : { url };
}

/** The text of a file that a setting names; null and a problem where it cannot be read. */
export function readNamedFile(
  { key, path }: { readonly key: string; readonly path: string },
  readFile: ReadFile,
  problems: string[],
): string | null {
  try {
    return readFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    problems.push(`${mustBe(key, 'the path of a readable file', path)} (${reason})`);
    return null;
  }
}
