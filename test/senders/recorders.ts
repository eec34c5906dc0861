/** Programs that write what others send without `receive`: their output is compared with the fixtures of the tests. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';
import { decodeOtlp } from '../../src/codecs/points/decode-points.ts';
import { cacheFolder } from '../../src/config/process-environment.ts';
import { startSchemaRegistry } from '../fixture/kafka/schema-registry.ts';
import { startPostgres } from '../fixture/store/postgres.ts';
import { built } from './build.ts';
import { startSink } from './front.ts';
import type { Sender } from './senders.ts';

const run = promisify(execFile);
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const REGISTRY = here('../fixture/schema-registry');

type Recorded = Readonly<Record<string, unknown>>;

export interface Recorder extends Pick<Sender, 'name' | 'version' | 'build'> {
  readonly label: string;
  readonly fixture: string;
  /** Runs the program, whose first arguments are given. */
  record(program: readonly string[]): Promise<Recorded>;
  /** What the fixture and another run have in common: all but times. */
  readonly comparable: (recorded: Recorded) => unknown;
}

async function printed([command, ...args]: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { stdout } = await run(command, args, { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Recorded;
}

/** Ids, values and temporality of the points of each list of requests. */
function pointsOf(recorded: Recorded) {
  const lists = Object.entries(recorded).filter(([, value]) => Array.isArray(value)) as [string, string[]][];
  return lists.map(([name, requests]) => {
    const decoded = requests.map((request) => decodeOtlp(Buffer.from(request, 'base64'), 'protobuf'));
    const shown = decoded.flatMap((each) => {
      if (each.kind === 'unreadable') throw new Error(each.detail);
      return each.series.map(({ id, values, extras }) => [id, values, extras?.map((extra) => extra?.isDelta)]);
    });
    return [name, shown];
  });
}

export const RECORDERS: readonly Recorder[] = [
  {
    name: 'otlp-python',
    label: "OpenTelemetry's SDK for Python: identity, temporality, large counts",
    version: '1.45.2',
    build: { pypi: ['opentelemetry-sdk==1.45.2', 'opentelemetry-exporter-otlp-proto-http==1.45.2'] },
    fixture: here('../fixture/senders/otlp-python.json'),
    record: (program) => printed([...program, here('otlp_python.py')]),
    comparable: pointsOf,
  },
  {
    name: 'micrometer-otlp',
    label: "Micrometer's registry for OTLP: replicas of one service",
    version: '1.17.2',
    build: { maven: ['io.micrometer:micrometer-registry-otlp:1.17.2'] },
    fixture: here('../fixture/senders/micrometer-otlp.json'),
    async record([command, ...args]) {
      const sink = await startSink();
      await run(command, [...args, here('MicrometerReplicas.java'), `${sink.url}/v1/metrics`]);
      sink.close();
      const replicas = sink.bodies.map((body) => body.toString('base64'));
      return { sender: 'micrometer-registry-otlp 1.17.2', recorded: new Date().toISOString().slice(0, 10), replicas };
    },
    comparable: pointsOf,
  },
  {
    name: 'connect-json',
    label: "Kafka Connect's JsonConverter: decimals",
    version: '4.3.1',
    build: { maven: ['org.apache.kafka:connect-json:4.3.1'] },
    fixture: here('../fixture/senders/connect-json.json'),
    record: (program) => printed([...program, here('ConnectJson.java')]),
    comparable: ({ decimals }) => decimals,
  },
  {
    name: 'debezium',
    label: "Debezium's connector for Postgres: an insert, an update, a deletion",
    version: '3.5.0',
    build: {
      maven: ['io.debezium:debezium-embedded:3.5.0.Final', 'io.debezium:debezium-connector-postgres:3.5.0.Final'],
    },
    fixture: here('../fixture/senders/debezium.json'),
    async record(program) {
      const postgres = await startPostgres(['wal_level=logical']);
      const recorded = await printed([...program, here('Debezium.java'), new URL(postgres.url('')).port]);
      await postgres.remove();
      return recorded;
    },
    comparable: ({ precise, double }) =>
      [precise, double].map((changes) =>
        (changes as string[]).map((change) => /"after":(?!\[).*?"source"/.exec(atob(change))?.[0]),
      ),
  },
  {
    name: 'apicurio',
    label: "Apicurio's serializers: Avro, JSON Schema, Protobuf, all framings",
    version: '2.6.13',
    build: {
      maven: ['avro', 'jsonschema', 'protobuf'].map((each) => {
        return `io.apicurio:apicurio-registry-serdes-${each}-serde:2.6.13.Final`;
      }),
    },
    fixture: join(REGISTRY, 'apicurio-records.json'),
    async record(program) {
      const logDir = await mkdtemp(join(tmpdir(), 'tidewatch-registry-'));
      const registry = await startSchemaRegistry({ cacheDir: cacheFolder(), logDir });
      const recorded = await printed([...program, here('Apicurio.java'), new URL(registry.url).origin]);
      await registry.kill();
      return recorded;
    },
    comparable: ({ schemas, records }) => [schemas, records],
  },
  {
    name: 'confluent-python',
    label: "Confluent's serializers for Python: Avro, JSON Schema, Protobuf, both framings",
    version: '2.16.1',
    build: {
      pypi: ['confluent-kafka[avro,protobuf,json,schemaregistry]==2.16.1', 'grpcio-tools==1.85.1', 'fastavro==1.13.1'],
    },
    fixture: join(REGISTRY, 'confluent-records.json'),
    async record(program) {
      const folder = await mkdtemp(join(tmpdir(), 'tidewatch-recorder-'));
      const [command, ...args] = [...program, '-m', 'grpc_tools.protoc', `-I${REGISTRY}`, `--python_out=${folder}`];
      // Its `google/type` is among the packages of the interpreter.
      const { stdout } = await run(program[0], ['-c', 'import google.type as t; print(list(t.__path__)[0])']);
      const protos = ['reading', 'kinds', 'legacy', 'edition'].map((name) => `${name}.proto`);
      await run(command, [...args, `-I${join(stdout.trim(), '../..')}`, ...protos], { cwd: REGISTRY });
      const recorded = await printed([...program, join(REGISTRY, 'confluent_records.py')], { PYTHONPATH: folder });
      await rm(folder, { recursive: true });
      return recorded;
    },
    comparable: ({ schemas, captured, records }) => {
      const named = records as readonly { readonly name: string; readonly value: string; readonly schema: number }[];
      // Entries of a map have no order.
      const bytes = (value: string) => String(Buffer.from(value, 'base64').toSorted());
      return { schemas, captured, records: named.map(({ name, value, schema }) => [name, bytes(value), schema]) };
    },
  },
];

/** Runs a recorder. Returns why its output is not that of the fixture, which `write` replaces. */
export async function recorded({ build, fixture, record, comparable, ...recorder }: Recorder, write: boolean) {
  const found = await record(await built({ build }));
  if (write) await writeFile(fixture, `${JSON.stringify(found, null, 1)}\n`);
  const kept = JSON.parse(await readFile(fixture, 'utf8')) as Recorded;
  const isSame = isDeepStrictEqual(comparable(found), comparable(kept));
  console.log([recorder.name, recorder.version, isSame ? 'as recorded' : 'other than recorded'].join(' | '));
  return isSame ? null : `${recorder.name}: it writes other than ${fixture} has`;
}
