import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '../../ops/service-error.ts';
import { freePort, isListening } from './free-port.ts';
import { javaVersion, KAFKA_VERSION, kafkaClassPath } from './java-artifacts.ts';
import { type JavaProcess, startJava } from './java-process.ts';

const run = promisify(execFile);
const HEAP_MB = 512;
/** Time to write the archive of classes, at the end of a broker. Without it the next start writes it again. */
const ARCHIVE_MS_MAX = 600_000;
/** Short: it opens its port 2 s after a crash instead of 10. */
const SESSION_MS = 1_500;
/** Longest session of a login by token; it ends before with its token. */
const SESSION_MS_MAX = 60_000;
/** The module wants it of clients and brokers alike. */
const UNUSED_CLAIM = 'unsecuredLoginStringClaim_sub="broker"';
const SCRAM_MECHANISMS = ['SCRAM-SHA-256', 'SCRAM-SHA-512'];

export interface LocalKafka extends Omit<JavaProcess, 'ended'> {
  /** For KAFKA_BROKERS: `['127.0.0.1:PORT']`. */
  readonly brokers: readonly string[];
  /** Resolves when the running broker has ended, for any reason. */
  ended(): Promise<void>;
  /** Starts it again on the same port and data, after `stop` or `kill`. */
  restart(): Promise<void>;
}

/**
 * A secured listener: TLS, and SASL by PLAIN and SCRAM for one user, and by OAUTHBEARER. Its tokens are JSON web tokens
 * without a signature: it is for tests.
 */
export interface SecureListener {
  readonly port: number;
  /** PKCS 12 file with the key and certificate of 127.0.0.1. */
  readonly keyStore: string;
  readonly keyStorePassword: string;
  readonly username: string;
  readonly password: string;
  /** True if its users need permissions (ACLs); those of the open listener never do. */
  readonly authorized?: boolean;
}

interface Installation {
  readonly classPath: string;
  readonly archive: string;
}

/**
 * Runs a single-node Kafka on the loopback interface, without a container. Resolves when it accepts connections.
 *
 * - `cacheDir`: where jars are kept from one run to the next (fetched by Maven when absent, 44 MB).
 * - `dataDir`: the broker's data, kept when it stops; at most one broker may use it at a time.
 * - `port`: when absent that of the last run with these data, or a free one where another program has it.
 * - `sessionMs`: how long the broker may be silent until its controller takes its partitions away.
 * - `secure`: a second listener.
 * - `features`: levels of features, where the data are new; left out: those of the release.
 * - `stop`: ends the start, which is minutes on a slow machine.
 *
 * Throws a ServiceError `missing-tool` without Java 17 or Maven, `configuration` while another broker uses the data or
 * another program the port.
 */
export async function startKafka(options: {
  cacheDir: string;
  dataDir: string;
  port?: number;
  sessionMs?: number;
  secure?: SecureListener;
  features?: Readonly<Record<string, number>>;
  stop?: AbortSignal;
}): Promise<LocalKafka> {
  const dataDir = resolve(options.dataDir);
  await refuseDataInUse(dataDir);
  if (options.port !== undefined && (await isListening(options.port))) throw portTaken(options.port);
  const installation = await install(resolve(options.cacheDir), options.stop);
  const port = options.port ?? (await freePort(await portOf(dataDir, 'PLAINTEXT')));
  const { secure, features = {}, sessionMs = SESSION_MS } = options;
  await format(installation, { dataDir, port, secure, features, sessionMs });
  let broker = await startBroker(installation, dataDir, { stop: options.stop });
  return {
    brokers: [`127.0.0.1:${port}`],
    ended: () => broker.ended,
    stop: () => broker.stop(),
    kill: () => broker.kill(),
    freeze: () => broker.freeze(),
    thaw: () => broker.thaw(),
    restart: async () => {
      await broker.stop();
      broker = await startBroker(installation, dataDir);
    },
  };
}

async function install(cacheDir: string, stop: AbortSignal | undefined): Promise<Installation> {
  const java = await javaVersion();
  const classPath = await kafkaClassPath(cacheDir);
  const archive = join(cacheDir, `kafka-${KAFKA_VERSION}-java-${java}.jsa`);
  // Starts without it are slower, and all the same. What keeps a broker from starting is reported by the start itself.
  if (!existsSync(archive)) await makeArchive(classPath, archive, stop).catch(() => stop?.throwIfAborted());
  return { classPath, archive };
}

/**
 * Archives loaded classes: a start takes one second instead of three. A broker is started and stopped to record them.
 */
async function makeArchive(classPath: string, archive: string, stop: AbortSignal | undefined): Promise<void> {
  const folder = await mkdtemp(`${archive}.partial-`);
  const own = join(folder, 'classes.jsa');
  try {
    const listener = { port: await freePort(), secure: undefined, sessionMs: SESSION_MS };
    await format({ classPath, archive }, { dataDir: folder, features: {}, ...listener });
    const sharing = [`-XX:ArchiveClassesAtExit=${own}`];
    const broker = await startBroker({ classPath, archive }, folder, { sharing, stop });
    await broker.stop(ARCHIVE_MS_MAX, stop);
    await rename(own, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Storage {
  readonly dataDir: string;
  readonly port: number;
  readonly secure: SecureListener | undefined;
  readonly features: Readonly<Record<string, number>>;
  readonly sessionMs: number;
}

async function format(installation: Installation, of: Storage): Promise<void> {
  const { dataDir, port, secure, features, sessionMs } = of;
  await mkdir(join(dataDir, 'log'), { recursive: true });
  const properties = serverProperties(dataDir, { port, controllerPort: await freePort(), sessionMs });
  await writeFile(propertiesFile(dataDir), secure === undefined ? properties : withSecureListener(properties, secure));
  if (existsSync(join(dataDir, 'log', 'meta.properties'))) return;
  const clusterId = randomBytes(16).toString('base64url');
  // One argument: an id that begins with a dash would be parsed as an option.
  const args = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', propertiesFile(dataDir)];
  const users =
    secure === undefined
      ? []
      : SCRAM_MECHANISMS.flatMap((mechanism) => {
          return ['--add-scram', `${mechanism}=[name=${secure.username},password=${secure.password}]`];
        });
  await run('java', [...javaOptions(installation), ...args, ...users, ...featureArgs(features)], { cwd: dataDir });
}

/** Options of the tool that formats the storage. */
export function featureArgs(features: Readonly<Record<string, number>>): string[] {
  return Object.entries(features).flatMap(([name, level]) => ['--feature', `${name}=${level}`]);
}

function startBroker(
  installation: Installation,
  dataDir: string,
  { sharing, stop }: { readonly sharing?: readonly string[]; readonly stop?: AbortSignal | undefined } = {},
): Promise<JavaProcess> {
  return startJava({
    stop,
    name: 'The local Kafka',
    args: [...javaOptions(installation, sharing), 'kafka.Kafka', propertiesFile(dataDir)],
    cwd: dataDir,
    logFile: join(dataDir, 'broker.log'),
    ready: (printed) => printed.includes('Kafka Server started'),
    explainEnd: (printed) => (printed.includes('Failed to acquire lock') ? dataInUse(dataDir) : null),
  });
}

/**
 * A second broker would damage the metadata of the first before it finds the data locked. The controller's port shows
 * whether the first one runs.
 */
async function refuseDataInUse(dataDir: string): Promise<void> {
  const port = await portOf(dataDir, 'CONTROLLER');
  if (port !== undefined && (await isListening(port))) throw dataInUse(dataDir);
}

/** The port of a listener in the last run with these data. */
async function portOf(dataDir: string, listener: 'PLAINTEXT' | 'CONTROLLER'): Promise<number | undefined> {
  const properties = await readFile(propertiesFile(dataDir), 'utf8').catch(() => '');
  const port = new RegExp(`^listeners=.*${listener}://127\\.0\\.0\\.1:(\\d+)`, 'm').exec(properties)?.[1];
  return port === undefined ? undefined : Number(port);
}

function dataInUse(dataDir: string): ServiceError {
  const remedy = 'stop it, set KAFKA_BROKERS to its address, or set DATA_DIR to another folder';
  return new ServiceError('configuration', `Another Kafka uses the data in ${dataDir}: ${remedy}`);
}

function portTaken(port: number): ServiceError {
  const remedy = `take another port, --port ${port + 1}, or set KAFKA_BROKERS to what answers there if that is meant`;
  return new ServiceError('configuration', `127.0.0.1:${port} is taken by another program: ${remedy}`);
}

function javaOptions({ classPath, archive }: Installation, sharing?: readonly string[]): string[] {
  return [
    `-Xmx${HEAP_MB}m`,
    '-XX:TieredStopAtLevel=1',
    ...(sharing ?? (existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [])),
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
    '-cp',
    classPath,
  ];
}

function propertiesFile(dataDir: string): string {
  return join(dataDir, 'server.properties');
}

/** One node that is broker and controller. Nothing expires: scores of old history have old timestamps. */
function serverProperties(
  dataDir: string,
  { port, controllerPort, sessionMs }: { port: number; controllerPort: number; sessionMs: number },
): string {
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=${join(dataDir, 'log')}
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=${sessionMs}
broker.heartbeat.interval.ms=300
log.cleaner.dedupe.buffer.size=4194304
auto.create.topics.enable=false
log.retention.ms=-1
`;
}

function withSecureListener(properties: string, secure: SecureListener): string {
  const { port, keyStore, keyStorePassword, username, password } = secure;
  const modules = 'org.apache.kafka.common.security';
  const scram = SCRAM_MECHANISMS.map(
    (name) => `${name.toLowerCase()}.sasl.jaas.config=${modules}.scram.ScramLoginModule required;`,
  );
  const own = [
    `sasl.enabled.mechanisms=PLAIN,OAUTHBEARER,${SCRAM_MECHANISMS.join()}`,
    `plain.sasl.jaas.config=${modules}.plain.PlainLoginModule required user_${username}="${password}";`,
    ...scram,
    `oauthbearer.sasl.jaas.config=${modules}.oauthbearer.OAuthBearerLoginModule required ${UNUSED_CLAIM};`,
    `oauthbearer.connections.max.reauth.ms=${SESSION_MS_MAX}`,
    'ssl.keystore.type=PKCS12',
    `ssl.keystore.location=${keyStore}`,
    `ssl.keystore.password=${keyStorePassword}`,
  ].map((property) => `listener.name.secure.${property}\n`);
  const authorizer = [
    'authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users=User:ANONYMOUS',
  ];
  const rules = secure.authorized === true ? `${authorizer.join('\n')}\n` : '';
  const opened = properties
    .replaceAll(/(?<=listeners=)PLAINTEXT/g, `SECURE://127.0.0.1:${port},PLAINTEXT`)
    .replace('protocol.map=', 'protocol.map=SECURE:SASL_SSL,');
  return opened + own.join('') + rules;
}
