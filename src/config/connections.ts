import type { KafkaConfig, RegistryConfig, SaslConfig } from './config.ts';
import { identityOf } from './options/identity-options.ts';
import type { GivenOptions } from './options/option.ts';
import type { options } from './options/options.ts';

export type Given = GivenOptions<typeof options>;

/** Address and login of Kafka; null without brokers. Every option is checked all the same. */
export function kafkaOf(given: Given): KafkaConfig | null {
  const { brokers, clientId } = given.values;
  const tls = tlsOf(given);
  const sasl = saslOf(given);
  return brokers === undefined ? null : { brokers, clientId, tls, sasl };
}

function tlsOf(given: Given): KafkaConfig['tls'] {
  const { tls, tlsCa, tlsCert, tlsKey, tlsRejectUnauthorized: rejectUnauthorized } = given.values;
  if (!given.isValid('tls')) return null;
  if (!tls) {
    given.refuse(['tlsCa', 'tlsCert', 'tlsKey', 'tlsRejectUnauthorized'], 'KAFKA_TLS is not true');
    return null;
  }
  given.bothOrNone('tlsCert', 'tlsKey');
  const texts = { ca: given.pem('tlsCa'), cert: given.pem('tlsCert'), key: given.pem('tlsKey') };
  const files = { ca: tlsCa, cert: tlsCert, key: tlsKey };
  return { ...defined(texts), rejectUnauthorized, files: defined(files) };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

const OF_PASSWORDS = ['saslUsername', 'saslPassword'] as const;
const OF_ENDPOINT = ['saslClientId', 'saslClientSecret', 'saslScope'] as const;
const OF_TOKENS = ['saslTokenFile', 'saslTokenUrl', ...OF_ENDPOINT, 'saslExtensions'] as const;

/** Login of the client; null if none is needed. */
function saslOf(given: Given): SaslConfig | null {
  const { saslMechanism: mechanism, saslUsername: username, saslPassword: password } = given.values;
  given.text('saslTokenFile');
  if (!given.isSet('saslMechanism')) {
    if ([...OF_PASSWORDS, ...OF_TOKENS].some((key) => given.isSet(key))) given.missing('saslMechanism');
    return null;
  }
  // What belongs to an unknown mechanism is not known.
  if (mechanism === undefined) return null;
  if (mechanism === 'oauthbearer') {
    given.refuse(OF_PASSWORDS, 'belongs to the other mechanisms');
    return tokensOf(given);
  }
  given.refuse(OF_TOKENS, 'belongs to the mechanism oauthbearer');
  for (const key of OF_PASSWORDS) given.need(key, 'saslMechanism');
  return username && password ? { mechanism, username, password } : null;
}

function tokensOf(given: Given): SaslConfig | null {
  const {
    saslTokenFile: file,
    saslTokenUrl: url,
    saslClientId: clientId,
    saslClientSecret: clientSecret,
  } = given.values;
  const { saslScope: scope = null, saslExtensions: extensions = {} } = given.values;
  const isFile = given.isSet('saslTokenFile');
  if (isFile === given.isSet('saslTokenUrl')) {
    given.problems.push('Set one of KAFKA_SASL_TOKEN_FILE and KAFKA_SASL_TOKEN_URL for oauthbearer');
    return null;
  }
  if (isFile) {
    given.refuse(OF_ENDPOINT, 'belongs to KAFKA_SASL_TOKEN_URL');
    return file === undefined ? null : { mechanism: 'oauthbearer', tokens: { file }, extensions };
  }
  given.need('saslClientId', 'saslTokenUrl');
  given.need('saslClientSecret', 'saslTokenUrl');
  if (url === undefined || clientId === undefined || clientSecret === undefined) return null;
  return { mechanism: 'oauthbearer', tokens: { url, clientId, clientSecret, scope }, extensions };
}

/** The schema registry; null without a URL. */
export function registryOf(given: Given): RegistryConfig | null {
  const { registryUrl: url, registryUsername: username, registryPassword: password } = given.values;
  given.bothOrNone('registryUsername', 'registryPassword');
  if (username !== undefined) given.need('registryUrl', 'registryUsername');
  if (url === undefined) return null;
  return username !== undefined && password !== undefined ? { url, username, password } : { url };
}

export function prometheusHeadersOf(given: Given): Readonly<Record<string, string>> {
  const { prometheusAuthorization: authorization, prometheusHeaders: headers = {} } = given.values;
  const further = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return { ...(authorization !== undefined && { authorization }), ...Object.fromEntries(further) };
}

/** Receiver of value bands. Authorization and headers are secrets. */
export type RemoteWriteConfig = NonNullable<ReturnType<typeof remoteWriteOf>>;

/** null without a URL. */
export function remoteWriteOf(given: Given) {
  const { remoteWriteUrl: url, remoteWriteAuthorization: authorization = null } = given.values;
  const { remoteWriteHeaders: headers = {}, remoteWriteSeries: series } = given.values;
  for (const secret of ['remoteWriteAuthorization', 'remoteWriteHeaders'] as const) {
    if (given.isSet(secret)) given.need('remoteWriteUrl', secret);
  }
  return url === undefined ? null : { url, authorization, headers, series };
}

/** Address, TLS, first key and limits of the HTTP service. */
export type HttpConfig = ReturnType<typeof httpOf>;

export function httpOf(given: Given) {
  const { values } = given;
  const { httpTlsCert: certPath, httpTlsKey: keyPath } = values;
  given.bothOrNone('httpTlsCert', 'httpTlsKey');
  // The paths are kept: the service reads the files again when they change.
  for (const key of ['httpTlsCert', 'httpTlsKey'] as const) given.pem(key);
  return {
    host: values.httpHost,
    port: values.httpPort,
    tls: certPath === undefined || keyPath === undefined ? null : { certPath, keyPath },
    trustedProxies: values.httpTrustedProxies ?? [],
    corsOrigins: values.httpCorsOrigins ?? [],
    connectionsMax: values.httpConnectionsMax,
    connectionsPerAddressMax: values.httpConnectionsPerAddressMax,
    /** The configured admin key. null: one is created where the store has none. */
    apiKey: values.apiKey ?? null,
    drainMs: values.drainMs,
    jobsInFlightMax: values.jobsInFlightMax,
    jobMemoryMbMax: values.jobMemoryMbMax,
    finetunedModelsMax: values.finetunedModelsMax,
    identity: identityOf(given),
  };
}
