import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { javaVersion, KAFKA_VERSION, kafkaClassPath } from '../../../src/demo/local-kafka/java-artifacts.ts';
import { type JavaProcess, startJava } from '../../../src/demo/local-kafka/java-process.ts';
import { featureArgs } from '../../../src/demo/local-kafka/kafka-broker.ts';
import type { KafkaConnection } from '../../../src/kafka/cluster/connection.ts';
import { makeCertificate } from '../../fixture/certificate.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

/** How long a broker that died keeps its partitions. */
export const BROKER_SESSION_MS = 3_000;
const USER = 'ada';
const PASSWORD = 'correct-horse';

export interface ClusterNode {
  readonly id: number;
  /** Between the workers and this broker. */
  readonly proxy: FaultProxy;
  started(): Promise<void>;
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** SIGSTOP until `thaw`: as a machine that lost its network, it closes no connection. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
}

/** Brokers with replicated topics. */
export interface BrokerCluster {
  readonly nodes: readonly ClusterNode[];
  /** Replicas that a write waits for. */
  readonly inSyncMin: number;
  /** Past the proxies, without TLS: for what feeds and compares. */
  readonly direct: KafkaConnection;
  /** How workers reach the brokers: through the proxies, by TLS and SCRAM. */
  readonly workerEnv: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export interface ClusterOptions {
  /** Left out: three. Topics have a replica on each. */
  readonly brokers?: number;
  /** Left out: as `npm start`. */
  readonly release?: string;
  /** Levels of features; left out: those of the release. */
  readonly features?: Readonly<Record<string, number>>;
}

interface Ports {
  readonly plain: number;
  readonly secure: number;
  readonly proxy: number;
  readonly controller: number;
}

/** Rejects where a broker does not start; the others are ended then, since they would keep the process alive. */
export async function startBrokerCluster(
  folder: string,
  { brokers: count = 3, release = KAFKA_VERSION, features = {} }: ClusterOptions = {},
): Promise<BrokerCluster> {
  const classPath = await kafkaClassPath(cacheFolder(), release);
  const archive = join(cacheFolder(), `kafka-${release}-java-${await javaVersion()}.jsa`);
  const sharing = existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
  const java = ['-Xmx320m', '-XX:TieredStopAtLevel=1', ...sharing, ...LOG_LEVELS, '-cp', classPath];
  const { keyStore, certificate } = await makeCertificate(folder, PASSWORD);
  const ports: Ports[] = [];
  for (let id = 1; id <= count; id++) {
    ports.push({
      plain: await freePort(),
      secure: await freePort(),
      proxy: await freePort(),
      controller: await freePort(),
    });
  }
  const inSyncMin = Math.min(2, count);
  const clusterId = randomBytes(16).toString('base64url');
  const makeNode = async (own: Ports, at: number): Promise<ClusterNode> => {
    const dataDir = join(folder, `broker-${at + 1}`);
    const file = join(dataDir, 'server.properties');
    await mkdir(join(dataDir, 'log'), { recursive: true });
    await writeFile(file, properties({ id: at + 1, own, all: ports, inSyncMin, dataDir, keyStore }));
    const user = `SCRAM-SHA-512=[name=${USER},password=${PASSWORD}]`;
    const format = ['kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', file, '--add-scram', user];
    await promisify(execFile)('java', [...java, ...format, ...featureArgs(features)], { cwd: dataDir });
    const start = () =>
      startJava({
        name: `Broker ${at + 1}`,
        args: [...java, 'kafka.Kafka', file],
        cwd: dataDir,
        logFile: join(dataDir, 'broker.log'),
        ready: (printed) => printed.includes('Kafka Server started'),
      });
    let running: Promise<JavaProcess> = start();
    const proxy = await startFaultProxy(own.proxy, () => own.secure);
    return {
      id: at + 1,
      proxy,
      started: async () => void (await running),
      kill: async () => (await running).kill(),
      freeze: async () => (await running).freeze(),
      thaw: async () => (await running).thaw(),
      restart: async () => {
        running = start();
        await running;
      },
    };
  };
  const nodes = await Promise.all(ports.map(makeNode));
  const close = async () => {
    await Promise.allSettled(nodes.map((node) => node.kill()));
    await Promise.all(nodes.map(({ proxy }) => proxy.close()));
  };
  await Promise.all(nodes.map(({ started }) => started())).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const brokers = ports.map(({ plain }) => `127.0.0.1:${plain}`);
  return {
    nodes,
    inSyncMin,
    direct: { config: { brokers, clientId: 'fault-run', tls: null, sasl: null } },
    workerEnv: {
      KAFKA_BROKERS: ports.map(({ proxy }) => `127.0.0.1:${proxy}`).join(),
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA: certificate,
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: USER,
      KAFKA_SASL_PASSWORD: PASSWORD,
    },
    close,
  };
}

const LOG_LEVELS = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];

interface NodeSettings {
  readonly id: number;
  readonly own: Ports;
  readonly all: readonly Ports[];
  readonly inSyncMin: number;
  readonly dataDir: string;
  readonly keyStore: string;
}

/** Leaders go back to their preferred broker after seconds, so that they move after each restart. Nothing expires. */
function properties({ id, own, all, inSyncMin, dataDir, keyStore }: NodeSettings): string {
  const at = (port: number) => `127.0.0.1:${port}`;
  return `process.roles=broker,controller
node.id=${id}
controller.quorum.voters=${all.map(({ controller }, i) => `${i + 1}@${at(controller)}`).join()}
listeners=PLAINTEXT://${at(own.plain)},SECURE://${at(own.secure)},CONTROLLER://${at(own.controller)}
advertised.listeners=PLAINTEXT://${at(own.plain)},SECURE://${at(own.proxy)}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL,CONTROLLER:PLAINTEXT
listener.name.secure.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.secure.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.secure.ssl.keystore.type=PKCS12
listener.name.secure.ssl.keystore.location=${keyStore}
listener.name.secure.ssl.keystore.password=${PASSWORD}
log.dirs=${join(dataDir, 'log')}
default.replication.factor=${all.length}
min.insync.replicas=${inSyncMin}
offsets.topic.replication.factor=${all.length}
offsets.topic.num.partitions=6
transaction.state.log.replication.factor=${all.length}
transaction.state.log.min.isr=${inSyncMin}
transaction.state.log.num.partitions=6
share.coordinator.state.topic.replication.factor=${all.length}
share.coordinator.state.topic.min.isr=${inSyncMin}
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=${BROKER_SESSION_MS}
broker.heartbeat.interval.ms=500
leader.imbalance.check.interval.seconds=5
log.cleaner.dedupe.buffer.size=4194304
log.cleaner.backoff.ms=500
auto.create.topics.enable=false
log.retention.ms=-1
`;
}
