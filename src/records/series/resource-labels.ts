import { globPattern } from './glob.ts';

/** Names and values of attributes, in the order of their record. */
export type Attributes = readonly (readonly [key: string, value: string])[];

/**
 * Families of resource attributes that identify what sends a metric: services, hosts, containers, pods, and what the
 * Collector's receivers of databases and brokers put there.
 */
export const RESOURCE_LABELS: readonly string[] = [
  ...['service.*', 'host.*', 'k8s.*', 'container.*', 'deployment.*', 'server.*', 'db.*', 'messaging.*'],
  ...[
    'aerospike.*',
    'couchdb.*',
    'database',
    'elasticsearch.*',
    'kafka.*',
    'memcached.*',
    'mongodb.*',
    'mongodb_atlas.*',
  ],
  ...['mysql.*', 'oracledb.*', 'postgresql.*', 'rabbitmq.*', 'redis.*', 'snowflake.*', 'sqlserver.*', 'zookeeper.*'],
];

/**
 * Attributes that change when something restarts, is deployed or is scheduled again, or only describe it: globs leave
 * them out, and only their full names choose them.
 */
const CHURNING_ATTRIBUTES: readonly string[] = [
  ...['*.version', '*.uid', '*.ip', '*.mac', '*.start_time'],
  ...['*.label.*', '*.labels.*', '*.annotation.*', '*.annotations.*'],
  ...['container.id', 'container.hostname', 'container.image.*', 'container.command*', 'container.runtime*'],
  ...['k8s.container.restart_count', 'k8s.container.status.*', 'deployment.id', 'deployment.status'],
  ...['host.image.*', 'host.cpu.*', 'host.type', 'host.arch'],
];

/** Labels that attributes of a resource have in Prometheus. */
const PROMETHEUS_LABELS: ReadonlyMap<string, string> = new Map([
  ['service.name', 'job'],
  ['service.instance.id', 'instance'],
  ['host.name', 'host'],
]);

/** The label of an attribute whose own name another one has: what differs in it alone stays two series. */
export const hiddenLabel = (label: string): string => `otel_resource_${label}`;

export type ResourceLabels = (attributes: Attributes) => Attributes;

/** The attributes of a resource that are labels of its series, by names and globs. Each label is there once. */
export function resourceLabels(chosen: readonly string[] = RESOURCE_LABELS): ResourceLabels {
  const names = new Set(chosen);
  const families = globPattern(chosen.filter((name) => /[*?]/.test(name)));
  const churning = globPattern(CHURNING_ATTRIBUTES);
  return (attributes) => {
    const labels = new Map<string, string>();
    for (const [key, value] of attributes) {
      if (!names.has(key) && (!families.test(key) || churning.test(key))) continue;
      const mapped = PROMETHEUS_LABELS.get(key);
      const label = mapped ?? key;
      const other = labels.get(label) ?? value;
      if (mapped !== undefined || !labels.has(label)) labels.set(label, value);
      if (other !== value) labels.set(hiddenLabel(label), mapped === undefined ? value : other);
    }
    return [...labels];
  };
}

/** Name and attributes of an instrumentation scope as Prometheus has them. Versions change with deployments. */
export function scopeLabels(name: string, attributes: Attributes): Attributes {
  const named: Attributes = [['otel_scope_name', name]];
  return [...named, ...attributes.map(([key, value]) => [`otel_scope_${key}`, value] as const)];
}
