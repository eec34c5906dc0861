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

export type ResourceLabels = (attributes: Attributes) => Attributes;

/** The attributes of a resource that are labels of its series, by names and globs. Each label is there once. */
export function resourceLabels(chosen: readonly string[] = RESOURCE_LABELS): ResourceLabels {
  const names = new Set(chosen);
  const families = globPattern(chosen.filter((name) => /[*?]/.test(name)));
  const churning = globPattern(CHURNING_ATTRIBUTES);
  return (attributes) => {
    const [kept, mapped] = [new Map<string, string>(), new Map<string, string>()];
    for (const [key, value] of attributes) {
      if (!names.has(key) && (!families.test(key) || churning.test(key))) continue;
      const label = PROMETHEUS_LABELS.get(key);
      if (label !== undefined) mapped.set(label, value);
      else if (!kept.has(key)) kept.set(key, value);
    }
    return mergedLabels([...kept], [...mapped]);
  };
}

/** A label of `own` keeps its name, and one of another value that it hides gets a name: two sources stay two series. */
export function mergedLabels(labels: Attributes, own: Attributes): Attributes {
  const named = new Set([...labels, ...own].map(([label]) => label));
  const shown = new Map(own);
  const others = labels.filter(([label, value]) => shown.get(label) !== value);
  return [...others.map(([label, value]) => [shown.has(label) ? unused(label, named) : label, value] as const), ...own];
}

function unused(label: string, named: ReadonlySet<string>): string {
  const name = `otel_resource_${label}`;
  return named.has(name) ? unused(name, named) : name;
}

/** Name and attributes of an instrumentation scope as Prometheus has them. Versions change with deployments. */
export function scopeLabels(name: string, attributes: Attributes): Attributes {
  const named: Attributes = [['otel_scope_name', name]];
  return [...named, ...attributes.map(([key, value]) => [`otel_scope_${key}`, value] as const)];
}
