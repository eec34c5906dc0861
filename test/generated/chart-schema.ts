import { options } from '../../src/config/options/options.ts';
import { fileSchema } from './file-schemas.ts';

const object = (properties: object) => ({ type: 'object', additionalProperties: false, properties });
const flag = { type: 'boolean' };
const word = { type: 'string' };
const atLeast = (minimum: number) => ({ type: 'integer', minimum });
const words = { type: 'array', items: word };
const COMPONENT = { enabled: flag, replicas: atLeast(0), resources: { type: 'object' } };

/** Helm's regular expressions look neither ahead nor behind. What such a pattern refuses, the command refuses. */
const isForHelm = (key: string, value: unknown) => key !== 'pattern' || !/\(\?[=!<]|\[\^\]/.test(String(value));

/** Keys of `schemas` that take the word off, which is false in YAML 1.1. */
export const offKeys = new Set<string>();

interface WordSchema {
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly { readonly const?: unknown }[];
}

function takesOff({ description = '', anyOf = [], enum: words = [] }: WordSchema): boolean {
  return words.includes('off') || anyOf.some((one) => one.const === 'off') || /\bor off\b/.test(description);
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, WordSchema>>;
  readonly required?: readonly string[];
}

/** The template, not the schema, refuses keys that YAML 1.1 made of on and off: with the remedy. */
function inYaml11({ properties, required = [], ...rest }: ObjectSchema): object {
  const entries = Object.entries(properties).map(([name, value]) => {
    if (!takesOff(value)) return [name, value];
    offKeys.add(name);
    return [name, { anyOf: [value, { enum: value.enum?.includes('on') ? [true, false] : [false] }] }];
  });
  return {
    ...rest,
    required: required.filter((name) => name !== 'on'),
    properties: Object.fromEntries(entries),
    patternProperties: { '^(true|false)$': {} },
  };
}

/** A file that the chart mounts, as text or mapping. Empty is its default; a component that needs it says so. */
function file(name: 'detectors' | 'routes'): object {
  const forHelm = (key: string, value: unknown) => {
    if (!isForHelm(key, value)) return undefined;
    return (value as { readonly additionalProperties?: unknown } | null)?.additionalProperties === false
      ? inYaml11(value as ObjectSchema)
      : value;
  };
  const { $schema: _, ...schema } = JSON.parse(JSON.stringify(JSON.parse(fileSchema(name)), forHelm));
  return { anyOf: [{ type: 'object', maxProperties: 0 }, word, schema] };
}

/** Secrets are none of the values: a release keeps them readable. */
const ofOptions = Object.values(options).flatMap(({ env, flag }) => (env === null || flag === null ? [] : [env]));

/** The chart's own: its ports, probes, volumes and static members follow from them. */
const OF_CHART =
  'DATA_DIR DETECTORS GRPC_PORT HTTP_HOST HTTP_PORT KAFKA_GROUP_INSTANCE_ID OPS_HOST OPS_PORT ROUTES'.split(' ');

/** Node's own variable is for files of `secretFiles`. */
const variables = ofOptions.filter((name) => !OF_CHART.includes(name)).concat('NODE_EXTRA_CA_CERTS');

/** The schema of the chart's values, from those of the settings, the detectors file and the routes file. */
export const chartSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of the chart of Tidewatch',
  ...object({
    image: object({
      repository: word,
      tag: word,
      pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      pullSecrets: words,
    }),
    settings: {
      ...object(
        Object.fromEntries(variables.toSorted().map((name) => [name, { type: ['string', 'number', 'boolean'] }])),
      ),
      required: ['KAFKA_BROKERS'],
    },
    secrets: words,
    secretFiles: words,
    detectors: file('detectors'),
    routes: file('routes'),
    topics: object({ enabled: flag, partitions: atLeast(1), replicationFactor: atLeast(1) }),
    worker: object(COMPONENT),
    serve: object({
      ...COMPONENT,
      volume: object({ size: word, storageClass: word }),
      ingress: object({ enabled: flag, className: word, host: word, tlsSecret: word, annotations: { type: 'object' } }),
    }),
    alerts: object(COMPONENT),
    incidents: object(COMPONENT),
    receive: object(COMPONENT),
    networkPolicy: object({
      enabled: flag,
      from: { type: 'array', items: { type: 'object' } },
      toPorts: { type: 'array', items: atLeast(1) },
    }),
    serviceMonitor: object({ enabled: flag, interval: word }),
    prometheusRule: object({ enabled: flag }),
    nodeSelector: { type: 'object' },
    tolerations: { type: 'array', items: { type: 'object' } },
    global: { type: 'object' },
  }),
};
