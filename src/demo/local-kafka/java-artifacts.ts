import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ServiceError } from '../../ops/service-error.ts';

const run = promisify(execFile);

export const KAFKA_VERSION = '4.3.1';
const JAVA_VERSION_MIN = 17;
export const DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1';
const OR_ELSEWHERE = 'or set KAFKA_BROKERS to the address of a Kafka cluster';

/**
 * The version of the Java on the path, e.g. `17.0.15`. Throws `missing-tool` with what to install when it is absent or
 * too old.
 */
export async function javaVersion(): Promise<string> {
  const wanted = `A local Kafka needs Java ${JAVA_VERSION_MIN} or newer`;
  const printed = await run('java', ['-version']).then(
    ({ stderr, stdout }) => stderr + stdout,
    (cause: unknown) => {
      throw new ServiceError(
        'missing-tool',
        `${wanted}, and no working java is on the path: install one, ${OR_ELSEWHERE}`,
        {
          cause,
        },
      );
    },
  );
  const version = /version "([^"]+)"/.exec(printed)?.[1] ?? 'unknown';
  if (Number.parseInt(version, 10) >= JAVA_VERSION_MIN) return version;
  throw new ServiceError('missing-tool', `${wanted}, found ${version}: install a newer one, ${OR_ELSEWHERE}`);
}

/**
 * Kafka's jars as a class path, sorted: the class-data archive is valid for exactly this order. Fetched by Maven at the
 * first call.
 */
export async function kafkaClassPath(cacheDir: string, version = KAFKA_VERSION): Promise<string> {
  const folder = join(cacheDir, `kafka-${version}`);
  await fetchOnce(folder, (target) =>
    maven([
      '-f',
      join(import.meta.dirname, 'pom.xml'),
      `${DEPENDENCY_PLUGIN}:copy-dependencies`,
      `-DoutputDirectory=${target}`,
      '-DincludeScope=runtime',
      `-Dkafka.version=${version}`,
    ]),
  );
  const jars = (await readdir(folder)).filter((name) => name.endsWith('.jar')).sort();
  return jars.map((name) => join(folder, name)).join(':');
}

/**
 * Fills `folder` once, also when several processes try at the same time: each fetches into a folder of its own, the
 * first to rename wins, and the others discard theirs.
 */
export async function fetchOnce(folder: string, fetch: (target: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  await mkdir(dirname(folder), { recursive: true });
  const own = await mkdtemp(`${folder}.partial-`);
  try {
    await fetch(own);
    await rename(own, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

export async function maven(args: readonly string[]): Promise<void> {
  try {
    await run('mvn', ['-B', '-ntp', '-q', ...args]);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
      const text = `A local Kafka needs Maven, and no mvn is on the path: install Apache Maven, ${OR_ELSEWHERE}`;
      throw new ServiceError('missing-tool', text, { cause });
    }
    const firstError = String((cause as { stdout?: string }).stdout ?? '')
      .split('\n')
      .filter((line) => line.includes('ERROR'))[0];
    const reason = firstError ?? (cause as Error).message;
    const remedy = `check its access to a repository, ${OR_ELSEWHERE}`;
    const text = `Maven could not fetch the jars of a local Kafka (${reason}): ${remedy}`;
    throw new ServiceError('missing-tool', text, { cause });
  }
}
