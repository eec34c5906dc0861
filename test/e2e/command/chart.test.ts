/** The chart, rendered by Helm and read by Kubernetes' own types. It was never installed in a cluster here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { chartTools, chartToolsAreBuilt } from '../../fixture/chart/chart-tools.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

const DEPLOY = join(import.meta.dirname, '../../../deploy');
const CHART = join(DEPLOY, 'helm/tidewatch');
const why = chartToolsAreBuilt() ? null : 'Helm is not built; npm run chart-tools builds it';
const chartTest = (law: string, check: () => void) =>
  why === null ? test(law, check) : test(`${law} (skipped: ${why})`, { skip: why }, check);

const folder = freshFolder();

const MINIMAL = {
  settings: { KAFKA_BROKERS: 'kafka:9092' },
  detectors: { detectors: [{ name: 'all', series: '*', freq: '5min', h: 24, detection_size: 24 }] },
};
const EVERYTHING = {
  ...MINIMAL,
  settings: { ...MINIMAL.settings, SERIES_MAX: 5_000_000, LOG_LEVEL: 'warn' },
  image: { pullSecrets: ['registry'] },
  secrets: ['tidewatch', 'kafka'],
  routes: {
    receivers: [{ name: 'hook', webhook: { url: 'https://hooks.example.com' } }],
    routes: [{ name: 'all', receivers: 'hook' }],
  },
  alerts: { enabled: true },
  receive: { enabled: true },
  serve: {
    replicas: 3,
    ingress: { enabled: true, host: 'tidewatch.example.com', className: 'nginx', tlsSecret: 'tls' },
  },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  networkPolicy: { from: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }] },
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'dedicated', operator: 'Exists' }],
};

/** @param values YAML, where it is text; `more` are further arguments */
function helm(command: 'lint' | 'template', values: object | string, more: readonly string[] = []) {
  const file = join(folder, 'values.yaml');
  writeFileSync(file, typeof values === 'string' ? values : JSON.stringify(values));
  const args =
    command === 'lint' ? ['lint', '--strict', CHART] : ['template', 'metrics', CHART, '--kube-version', '1.34.0'];
  const all = [...args, '--values', file, ...more];
  const { status, stdout, stderr } = spawnSync(chartTools.helm, all, { encoding: 'utf8' });
  return { status, out: stdout, said: stdout + stderr };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

for (const [name, values] of Object.entries({ MINIMAL, EVERYTHING })) {
  chartTest(`${name.toLowerCase()} values render manifests that Kubernetes takes, field for field`, () => {
    const linted = helm('lint', values);
    assert.equal(linted.status, 0, linted.said);
    const { status, out, said } = helm('template', values);
    assert.equal(status, 0, said);
    const read = spawnSync(chartTools.decode, { input: out, encoding: 'utf8' });
    assert.equal(read.status, 0, read.stdout);
    const operators = [...read.stdout.matchAll(/^no kind "(\w+)" is registered/gm)].map(([, kind]) => kind);
    assert.deepEqual(operators, name === 'MINIMAL' ? [] : ['PrometheusRule', 'ServiceMonitor']);
  });
}

chartTest('each component runs its command, and numbers of settings are written as they are read', () => {
  const manifests = parseAllDocuments(helm('template', EVERYTHING).out).map(
    (document) => document.toJS() as Manifest | null,
  );
  const workloads = manifests.filter((manifest) => ['StatefulSet', 'Deployment', 'Job'].includes(manifest?.kind ?? ''));
  const commands = workloads.map((workload) => workload!.spec.template.spec.containers[0].args.slice(1, 3).join(' '));
  assert.deepEqual(commands.toSorted(), [
    'src/main.ts alerts',
    'src/main.ts incidents',
    'src/main.ts receive',
    'src/main.ts serve',
    'src/main.ts topics',
    'src/main.ts worker',
  ]);
  for (const workload of workloads) {
    const { env } = workload!.spec.template.spec.containers[0];
    assert.equal(env.find((variable) => variable.name === 'SERIES_MAX')?.value, '5000000');
  }
});

chartTest('values that nobody meant are refused with their name', () => {
  const refused = (values: object) => helm('template', values).said;
  assert.match(refused({}), /KAFKA_BROKERS|detectors/);
  assert.match(refused({ ...MINIMAL, settings: { KAFKA_BROKER: 'kafka:9092' } }), /KAFKA_BROKER\b/);
  assert.match(
    refused({ ...MINIMAL, settings: { ...MINIMAL.settings, KAFKA_SASL_PASSWORD: 'a' } }),
    /KAFKA_SASL_PASSWORD/,
  );
  assert.match(refused({ ...MINIMAL, detectors: { detectors: [{ name: 'all', serie: '*' }] } }), /serie\b/);
  assert.match(refused({ ...MINIMAL, alerts: { enabled: true } }), /routes: the routes file is missing/);
  assert.match(refused({ ...MINIMAL, serve: { replicas: 2 } }), /STORE_URL/);
  assert.match(refused({ ...MINIMAL, receive: { enabled: true } }), /STORE_URL/);
});

interface ConfigMap {
  readonly data: Readonly<Record<string, string>>;
}

function mounted(out: string): Readonly<Record<string, string>> {
  const manifests = parseAllDocuments(out).map((document) => document.toJS() as (Manifest & ConfigMap) | null);
  return manifests.find((manifest) => manifest?.kind === 'ConfigMap')!.data;
}

const indented = (text: string) => text.replace(/^(?=.)/gm, '  ');

chartTest('the example files are mounted as they are, from their files or as text of the values', () => {
  const [detectors, routes] = ['detectors', 'alerts'].map((name) => join(DEPLOY, `${name}.example.yaml`));
  const texts = [detectors, routes].map((file) => readFileSync(file, 'utf8'));
  const asText = `detectors: |\n${indented(texts[0])}\nroutes: |\n${indented(texts[1])}`;
  const common = 'settings: { KAFKA_BROKERS: "kafka:9092" }\nalerts: { enabled: true }\n';
  const files = ['--set-file', `detectors=${detectors}`, '--set-file', `routes=${routes}`];
  for (const { status, out, said } of [helm('template', common, files), helm('template', `${common}${asText}`)]) {
    assert.equal(status, 0, said);
    const data = mounted(out);
    const actual = [data['detectors.yaml'], data['routes.yaml']].map((text) => text.trimEnd());
    const expected = texts.map((text) => text.trimEnd());
    assert.deepEqual(actual, expected);
    for (const port of [9093, 587, 443]) assert.match(out, new RegExp(`{ port: ${port}, protocol: TCP }`));
  }
  const asMapping = helm(
    'template',
    `settings: { KAFKA_BROKERS: "kafka:9092" }\ndetectors:\n${indented(texts[0])}`,
  ).said;
  assert.match(
    asMapping,
    /detectors\.depends_on\[0\]\.true: YAML 1\.1 .* quote it, as in "on":.*--set-file detectors=FILE/,
  );
  assert.match(helm('template', { ...MINIMAL, routes: '- a' }).said, /routes: the text is no mapping of YAML/);
});

chartTest('on and off of a mapping stay words, and a label named no is refused, not renamed', () => {
  const values = (labels: string) => `settings: { KAFKA_BROKERS: "kafka:9092" }
detectors:
  detectors:
    - { name: a, series: 'a*', freq: 1min, h: 24, detection_size: 24, false_alarms: off, profile: off }
    - { name: b, series: 'b*', freq: 1min, h: 24, detection_size: 24, silence_after: off, idle_limit: off, profile: on }
    - { name: c, series: 'c*', freq: 1min, h: 24, detection_size: 24, labels: ${labels} }
  depends_on: { labels: { tier: web }, "on": { tier: db } }
`;
  const { status, out, said } = helm('template', values('{ "team": web }'));
  assert.equal(status, 0, said);
  const { detectors, depends_on } = parse(mounted(out)['detectors.yaml']);
  const [a, b] = detectors;
  assert.deepEqual(
    [a.false_alarms, a.profile, b.silence_after, b.idle_limit, b.profile],
    ['off', 'off', 'off', 'off', 'on'],
  );
  assert.deepEqual(depends_on.on, { tier: 'db' });
  assert.match(helm('template', values('{ no: web }')).said, /detectors\[2\]\.labels\.false: YAML 1\.1/);
  assert.match(helm('template', values('{ country: no }')).said, /labels\/country': got boolean, want string/);
});

chartTest('the network policy shut out ports of settings, and who reaches what is open to others', () => {
  const receivers = [
    { name: 'mail', email: { host: 'smtp.internal', from: 'a@example.com', to: 'b@example.com' } },
    { name: 'hook', webhook: { url: 'https://hooks.example.com:9443/x' } },
  ];
  const { status, out, said } = helm('template', {
    ...MINIMAL,
    settings: { KAFKA_BROKERS: 'kafka-1:9093,kafka-2:9094', OIDC_ISSUER: 'https://id.example.com:8443/realms/main' },
    alerts: { enabled: true },
    routes: { receivers, routes: [{ name: 'all', receivers: ['mail', 'hook'] }] },
  });
  assert.equal(status, 0, said);
  for (const port of [9093, 9094, 8443, 9443, 587]) assert.match(out, new RegExp(`{ port: ${port}, protocol: TCP }`));
  for (const [reached, values] of [
    ['the ingress', { serve: { ingress: { enabled: true, host: 'a.example.com' } } }],
    ['Prometheus', { serviceMonitor: { enabled: true } }],
    ['senders of points', { secrets: ['store'], receive: { enabled: true } }],
  ] as const) {
    assert.match(
      helm('template', { ...MINIMAL, ...values }).said,
      new RegExp(`networkPolicy.from is empty.*${reached}`),
    );
  }
});

chartTest('settings that move a port from its probe, or give all workers one member, were taken', () => {
  for (const name of ['OPS_PORT', 'HTTP_PORT', 'DATA_DIR', 'KAFKA_GROUP_INSTANCE_ID']) {
    const { said } = helm('template', { ...MINIMAL, settings: { ...MINIMAL.settings, [name]: '9000' } });
    assert.match(said, new RegExp(`'${name}' not allowed`));
  }
});

chartTest('Kafka with a private authority had no place for its certificate, and a second apply changed a job', () => {
  const settings = { ...MINIMAL.settings, KAFKA_TLS: true, KAFKA_TLS_CA: '/run/secrets/my.ca/ca.crt' };
  const { out } = helm('template', { ...MINIMAL, settings, secretFiles: ['my.ca'] });
  assert.match(out, /mountPath: "\/run\/secrets\/my\.ca", readOnly: true/);
  const job = (values: object) => /name: (metrics-tidewatch-topics-\S+)/.exec(helm('template', values).out)?.[1];
  assert.equal(job(MINIMAL), job({ ...MINIMAL }));
  assert.notEqual(job(MINIMAL), job({ ...MINIMAL, settings }));
});

chartTest('a worker on a large node had a thread for each processor, and was killed as it drained', () => {
  const settings = { ...MINIMAL.settings, SHUTDOWN_MS_MAX: 60_000 };
  const { out } = helm('template', { ...MINIMAL, settings });
  assert.equal([...out.matchAll(/name: INFERENCE_THREADS\n +valueFrom: { resourceFieldRef/g)].length, 2);
  assert.match(out, /terminationGracePeriodSeconds: 75/);
  assert.doesNotMatch(
    helm('template', { ...MINIMAL, settings: { ...settings, INFERENCE_THREADS: 3 } }).out,
    /resourceFieldRef/,
  );
});

chartTest('docker-compose.yml is what the compose specification describes', () => {
  const { $schema: _, ...schema } = JSON.parse(readFileSync(chartTools.compose, 'utf8'));
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const file = readFileSync(join(CHART, '../../../docker-compose.yml'), 'utf8');
  assert.ok(validate(parse(file, { merge: true })), JSON.stringify(validate.errors));
  assert.ok(!validate(parse(file.replace('restart:', 'restarts:'), { merge: true })));
});
