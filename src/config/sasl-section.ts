import type { SaslConfig } from './config.ts';
import { type ReadFile, readNamedFile } from './named-file.ts';
import type { OptionReader } from './option-reader.ts';
import { type Option, options } from './options.ts';
import { isSecretSet, readSecret, type SecretOptions } from './secrets.ts';

const PASSWORD = { value: options.saslPassword, file: options.saslPasswordFile };
const CLIENT_SECRET = { value: options.saslClientSecret, file: options.saslClientSecretFile };
const OF_PASSWORDS = [options.saslUsername, options.saslPassword, options.saslPasswordFile];
const OF_ENDPOINT = [options.saslClientId, options.saslClientSecret, options.saslClientSecretFile, options.saslScope];
const OF_TOKENS = [options.saslTokenFile, options.saslTokenUrl, ...OF_ENDPOINT, options.saslExtensions];

/** How the client logs in; null where it need not. Every option is checked all the same. */
export function readSasl(reader: OptionReader, readFile: ReadFile): SaslConfig | null {
  const mechanism = reader.read(options.saslMechanism);
  const username = reader.read(options.saslUsername);
  const password = readSecret(reader, PASSWORD, readFile);
  const tokens = readTokens(reader, readFile);
  if (!reader.isSet(options.saslMechanism)) {
    if ([...OF_PASSWORDS, ...OF_TOKENS].some((part) => reader.isSet(part))) {
      reader.problem(options.saslMechanism, options.saslMechanism.kind.expected);
    }
    return null;
  }
  // What belongs to an unknown mechanism is not known.
  if (mechanism === undefined) return null;
  if (mechanism === 'oauthbearer') {
    refuse(reader, OF_PASSWORDS, 'is of the other mechanisms');
    return checkTokens(reader, tokens);
  }
  refuse(reader, OF_TOKENS, 'is of the mechanism oauthbearer');
  need(reader, options.saslMechanism, options.saslUsername);
  needSecret(reader, options.saslMechanism, PASSWORD);
  return username && password ? { mechanism, username, password } : null;
}

function readTokens(reader: OptionReader, readFile: ReadFile) {
  const file = reader.read(options.saslTokenFile);
  if (file !== undefined) {
    readNamedFile({ key: reader.nameOf(options.saslTokenFile), path: file }, readFile, reader.problems);
  }
  return {
    file,
    url: reader.read(options.saslTokenUrl),
    clientId: reader.read(options.saslClientId),
    clientSecret: readSecret(reader, CLIENT_SECRET, readFile),
    scope: reader.read(options.saslScope) ?? null,
    extensions: reader.read(options.saslExtensions) ?? {},
  };
}

function checkTokens(
  reader: OptionReader,
  { file, url, clientId, clientSecret, scope, extensions }: ReturnType<typeof readTokens>,
): SaslConfig | null {
  const isFile = reader.isSet(options.saslTokenFile);
  if (isFile === reader.isSet(options.saslTokenUrl)) {
    reader.problems.push(`Set one of ${options.saslTokenFile.env} and ${options.saslTokenUrl.env} for oauthbearer`);
    return null;
  }
  if (isFile) {
    refuse(reader, OF_ENDPOINT, `is of ${options.saslTokenUrl.env}`);
    return file === undefined ? null : { mechanism: 'oauthbearer', tokens: { file }, extensions };
  }
  need(reader, options.saslTokenUrl, options.saslClientId);
  needSecret(reader, options.saslTokenUrl, CLIENT_SECRET);
  if (url === undefined || clientId === undefined || clientSecret === undefined) return null;
  return { mechanism: 'oauthbearer', tokens: { url, clientId, clientSecret, scope }, extensions };
}

function need(reader: OptionReader, given: Option<unknown>, needed: Option<unknown>): void {
  if (!reader.isSet(needed)) reader.problem(needed, `set, as ${reader.nameOf(given)} is`);
}

function needSecret(reader: OptionReader, given: Option<unknown>, needed: SecretOptions<unknown>): void {
  if (!isSecretSet(reader, needed)) reader.problem(needed.value, `set, as ${reader.nameOf(given)} is`);
}

function refuse(reader: OptionReader, refused: readonly Option<unknown>[], why: string): void {
  for (const option of refused.filter((option) => reader.isSet(option))) {
    reader.problems.push(`${reader.nameOf(option)} is set, but ${why}`);
  }
}
