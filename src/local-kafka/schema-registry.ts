import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { freePort } from './free-port.ts';
import { javaVersion, REGISTRY_VERSION, registryFolder } from './java-artifacts.ts';
import { startJava } from './java-process.ts';

const HEAP_MB = 256;

export interface LocalRegistry {
  /** For SCHEMA_REGISTRY_URL: the Confluent-compatible API. */
  readonly url: string;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

/**
 * Runs an Apicurio schema registry on the loopback interface and resolves when it answers. It keeps schemas in memory
 * only. `logDir` receives what it prints. Throws a ServiceError `missing-tool` without Java 17 or Maven.
 */
export async function startSchemaRegistry(options: {
  cacheDir: string;
  logDir: string;
  port?: number;
}): Promise<LocalRegistry> {
  await javaVersion();
  const folder = await registryFolder(resolve(options.cacheDir));
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7`;
  const logDir = resolve(options.logDir);
  await mkdir(logDir, { recursive: true });
  const { stop, kill } = await startJava({
    name: 'The local schema registry',
    args: [
      `-Xmx${HEAP_MB}m`,
      '-XX:TieredStopAtLevel=1',
      `-Dquarkus.http.port=${port}`,
      '-Dquarkus.http.host=127.0.0.1',
      '-jar',
      join(folder, `apicurio-registry-app-${REGISTRY_VERSION}-runner.jar`),
    ],
    cwd: logDir,
    logFile: join(logDir, 'registry.log'),
    ready: () => answers(`${url}/subjects`),
  });
  return { url, stop, kill };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
