import type { KafkaConfig, SaslConfig } from './config.ts';
import type { LoadedConfig } from './load.ts';

const HIDDEN = '***';

/** The configuration for the log: secrets are hidden, certificates only mentioned. */
export function describeConfig(config: LoadedConfig): Readonly<Record<string, unknown>> {
  const { kafka, registry, prometheusHeaders, sourceHeaders: _, stream, http, storeUrl, remoteWrite, ...rest } = config;
  return {
    kafka: kafka === null ? null : describeKafka(kafka),
    registry: registry === null ? null : { ...registry, ...hidden(registry, 'password') },
    prometheusHeaders: hidden(prometheusHeaders, ...Object.keys(prometheusHeaders)),
    http: http.apiKey === null ? http : { ...http, apiKey: HIDDEN },
    storeUrl: storeUrl === null ? null : HIDDEN,
    remoteWrite: remoteWrite === null ? null : { to: new URL(remoteWrite.url).origin, series: remoteWrite.series },
    ...rest,
    stream: {
      ...stream,
      detectors: stream.detectors.map(({ settings, ...detector }) => {
        return { ...detector, ...settings, freq: settings.freq.alias };
      }),
    },
  };
}

function describeKafka({ brokers, clientId, tls, sasl }: KafkaConfig): Readonly<Record<string, unknown>> {
  return {
    brokers,
    clientId,
    tls: tls === null ? null : { ...tls, ...hidden(tls, 'ca', 'cert', 'key') },
    sasl: sasl === null ? null : describeSasl(sasl),
  };
}

function describeSasl(sasl: SaslConfig): Readonly<Record<string, unknown>> {
  if (sasl.mechanism !== 'oauthbearer') return { ...sasl, ...hidden(sasl, 'password') };
  const { tokens } = sasl;
  return 'file' in tokens ? sasl : { ...sasl, tokens: { ...tokens, ...hidden(tokens, 'clientSecret') } };
}

/** The named fields that are set, each hidden. */
function hidden<T extends object>(
  fields: T,
  ...names: readonly (keyof T & string)[]
): Readonly<Record<string, string>> {
  return Object.fromEntries(names.filter((name) => fields[name] !== undefined).map((name) => [name, HIDDEN]));
}
