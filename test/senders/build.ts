import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/config/cache-folder.ts';
import { fetchOnce } from '../../src/demo/local-kafka/java-artifacts.ts';
import type { Sender } from './senders.ts';

const run = promisify(execFile);
const PLAIN_GO = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' };

/** The program of a sender, built once for each version in the cache folder. */
export async function built({ build, version }: Sender): Promise<string> {
  if ('go' in build) return join(await goProgram(build.go), build.go.split('@')[0].split('/').at(-1)!);
  if ('collector' in build) return join(await collector(build.collector), 'otelcol');
  const folder = join(cacheFolder(), 'senders', `python-${version}`);
  await fetchOnce(folder, async (target) => {
    await run('python3', ['-m', 'venv', target]);
    // A virtual environment that is moved keeps its modules, unlike its scripts.
    await run(join(target, 'bin/python'), ['-m', 'pip', 'install', '-q', ...build.pypi], { timeout: 600_000 });
  });
  return join(folder, 'bin/python');
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
  const folder = join(cacheFolder(), 'senders', `otelcol-${version}`);
  await fetchOnce(folder, async (target) => {
    const builder = join(await goProgram(`${CORE}/cmd/builder@v${version}`), 'builder');
    const modules = {
      receivers: [`${CORE}/receiver/otlpreceiver`, `${CONTRIB}/receiver/prometheusreceiver`],
      exporters: [
        `${CORE}/exporter/otlphttpexporter`,
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
