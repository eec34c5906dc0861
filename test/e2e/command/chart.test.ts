/** The chart, rendered by Helm and read by Kubernetes' own types. It was never installed in a cluster here. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { chartTools, chartToolsAreBuilt } from '../../fixture/chart/chart-tools.ts';

const CHART = join(import.meta.dirname, '../../../deploy/helm/tidewatch');
const why = chartToolsAreBuilt() ? null : 'Helm is not built; npm run chart-tools builds it';
const chartTest = (law: string, check: () => void) =>
  why === null ? test(law, check) : test(`${law} (skipped: ${why})`, { skip: why }, check);

const folder = mkdtempSync(join(tmpdir(), 'tidewatch-chart-'));
after(() => rmSync(folder, { recursive: true, force: true }));

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

function helm(command: 'lint' | 'template', values: object) {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const args =
    command === 'lint' ? ['lint', '--strict', CHART] : ['template', 'metrics', CHART, '--kube-version', '1.34.0'];
  const { status, stdout, stderr } = spawnSync(chartTools.helm, [...args, '--values', file], { encoding: 'utf8' });
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

chartTest('docker-compose.yml is what the compose specification describes', () => {
  const { $schema: _, ...schema } = JSON.parse(readFileSync(chartTools.compose, 'utf8'));
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  const file = readFileSync(join(CHART, '../../../docker-compose.yml'), 'utf8');
  assert.ok(validate(parse(file, { merge: true })), JSON.stringify(validate.errors));
  assert.ok(!validate(parse(file.replace('restart:', 'restarts:'), { merge: true })));
});
