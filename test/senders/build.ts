import { execFile } from 'node:child_process';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/config/process-environment.ts';
import { DEPENDENCY_PLUGIN, fetchOnce, maven } from '../../src/demo/local-kafka/java-artifacts.ts';
import type { Sender } from './senders.ts';

const run = promisify(execFile);
const PLAIN_GO = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' };

/** The program of a sender with its first arguments, built once for each version in the cache folder. */
export async function built({ build }: Pick<Sender, 'build'>): Promise<string[]> {
  if ('go' in build) return [join(await goProgram(build.go), build.go.split('@')[0].split('/').at(-1)!)];
  if ('collector' in build) return [join(await collector(build.collector), 'otelcol')];
  if ('fluentBit' in build) return [join(await fluentBit(build.fluentBit), 'fluent-bit')];
  if ('maven' in build) return ['java', '-cp', join(await jars(build.maven), '*')];
  const folder = join(cacheFolder(), 'senders', `python-${build.pypi[0]}`);
  await fetchOnce(folder, async (target) => {
    await run('python3', ['-m', 'venv', target]);
    // A virtual environment that is moved keeps its modules, unlike its scripts.
    await run(join(target, 'bin/python'), ['-m', 'pip', 'install', '-q', ...build.pypi], { timeout: 600_000 });
  });
  return [join(folder, 'bin/python')];
}

/** The jars of `group:artifact:version` and what they need. */
async function jars(artifacts: readonly string[]): Promise<string> {
  const folder = join(cacheFolder(), 'senders', artifacts.map((each) => each.split(':').slice(1).join('-')).join('+'));
  await fetchOnce(folder, async (target) => {
    const dependencies = artifacts.map((artifact) => {
      const [group, name, version] = artifact.split(':');
      return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
    });
    const project =
      '<modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>';
    const pom = join(target, 'pom.xml');
    await writeFile(pom, `<project>${project}<dependencies>${dependencies.join('')}</dependencies></project>`);
    const options = [`-DoutputDirectory=${target}`, '-DincludeScope=runtime'];
    await maven(['-f', pom, `${DEPENDENCY_PLUGIN}:copy-dependencies`, ...options]);
  });
  return folder;
}

async function goProgram(module: string): Promise<string> {
  const folder = join(cacheFolder(), 'senders', module.replaceAll('/', '-'));
  await fetchOnce(folder, async (target) => {
    await run('go', ['install', module], { env: { ...PLAIN_GO, GOBIN: target }, maxBuffer: 64 * 1024 * 1024 });
  });
  return folder;
}

const CONTRIB = 'github.com/open-telemetry/opentelemetry-collector-contrib';
const CORE = 'go.opentelemetry.io/collector';

/** A Collector with what is tried, by its own builder. */
async function collector(version: string): Promise<string> {
  const folder = join(cacheFolder(), 'senders', `otelcol-grpc-${version}`);
  await fetchOnce(folder, async (target) => {
    const builder = join(await goProgram(`${CORE}/cmd/builder@v${version}`), 'builder');
    const modules = {
      receivers: [`${CORE}/receiver/otlpreceiver`, `${CONTRIB}/receiver/prometheusreceiver`],
      exporters: [
        `${CORE}/exporter/otlphttpexporter`,
        `${CORE}/exporter/otlpexporter`,
        `${CONTRIB}/exporter/kafkaexporter`,
        `${CONTRIB}/exporter/prometheusremotewriteexporter`,
      ],
    };
    const listed = Object.entries(modules).flatMap(([kind, names]) => [
      `${kind}:`,
      ...names.map((name) => `  - gomod: ${name} v${version}`),
    ]);
    const providers = ['env', 'file'].map((name) => `{ gomod: ${CORE}/confmap/provider/${name}provider v1.71.0 }`);
    const provider = `providers: [${providers.join()}]`;
    const manifest = [`dist: { name: otelcol, output_path: ${target}, version: ${version} }`, ...listed, provider, ''];
    await writeFile(join(target, 'manifest.yaml'), manifest.join('\n'));
    const options = { env: PLAIN_GO, maxBuffer: 64 * 1024 * 1024 };
    await run(builder, ['--config', join(target, 'manifest.yaml')], options);
  });
  return folder;
}

/** Fluent Bit with what is tried. Needs git, CMake, flex, bison and the headers of OpenSSL. */
async function fluentBit(version: string): Promise<string> {
  const folder = join(cacheFolder(), 'senders', `fluent-bit-${version}`);
  await fetchOnce(folder, async (target) => {
    const [source, options] = [join(target, 'source'), { maxBuffer: 64 * 1024 * 1024 }];
    const clone = ['clone', '-q', '--depth', '1', '--branch', `v${version}`];
    await run('git', [...clone, 'https://github.com/fluent/fluent-bit', source], options);
    const without = ['LUAJIT', 'WASM', 'KAFKA', 'CONFIG_YAML', 'BACKTRACE'].map((name) => `-DFLB_${name}=Off`);
    await run('cmake', ['-S', source, '-B', join(source, 'build'), ...without], options);
    await run('cmake', ['--build', join(source, 'build'), '-j2', '--target', 'fluent-bit-bin'], options);
    await copyFile(join(source, 'build/bin/fluent-bit'), join(target, 'fluent-bit'));
    await rm(source, { recursive: true });
  });
  return folder;
}
