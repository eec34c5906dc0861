import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../../src/config/process-environment.ts';
import { fetchOnce, KAFKA_VERSION } from '../../../src/demo/local-kafka/java-artifacts.ts';
import { type JavaProcess, startJava } from '../../../src/demo/local-kafka/java-process.ts';

const DRIVER = 'org.apache.kafka.connect.mirror.MirrorMaker';
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
const HEAP_MB = 320;

export interface Mirroring {
  readonly folder: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly topics: readonly string[];
  readonly group: string;
}

/** MirrorMaker between two clusters, as the book says. Its jars (40 MB) are fetched at the first call. */
export async function startMirrorMaker(mirroring: Mirroring): Promise<JavaProcess> {
  const jars = join(cacheFolder(), `mirror-maker-${KAFKA_VERSION}`);
  await fetchOnce(jars, async (target) => {
    const pom = ['-f', join(import.meta.dirname, 'pom.xml'), `-Dkafka.version=${KAFKA_VERSION}`];
    await promisify(execFile)('mvn', ['-B', '-ntp', '-q', ...pom, COPY, `-DoutputDirectory=${target}`]);
  });
  const { folder } = mirroring;
  const file = join(folder, 'mirror-maker.properties');
  await writeFile(file, properties(mirroring));
  return startJava({
    name: 'MirrorMaker',
    args: [`-Xmx${HEAP_MB}m`, '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*`, DRIVER, file],
    cwd: folder,
    logFile: join(folder, 'mirror-maker.log'),
    // Whoever started it waits for what it copies.
    ready: () => true,
  });
}

function properties({ from, to, topics, group }: Mirroring): string {
  const every = ['sync.group.offsets', 'emit.checkpoints', 'refresh.groups', 'refresh.topics', 'sync.topic.configs'];
  const internal = ['checkpoints.topic', 'heartbeats.topic', 'offset-syncs.topic', 'offset.storage', 'status.storage'];
  return `clusters = a, b
a.bootstrap.servers = ${from.join()}
b.bootstrap.servers = ${to.join()}
a->b.enabled = true
a->b.topics = ${topics.join()}
a->b.groups = ${group}
b->a.enabled = false
replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy
a.consumer.isolation.level = read_committed
sync.group.offsets.enabled = true
offset.lag.max = 0
replication.factor = 1
${every.map((name) => `${name}.interval.seconds = 2`).join('\n')}
${[...internal, 'config.storage'].map((name) => `${name}.replication.factor = 1`).join('\n')}
`;
}
