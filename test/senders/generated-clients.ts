/**
 * `npm run senders -- clients`: clients of Python and TypeScript are generated from schemas/openapi.json, compiled, and
 * ask a real service for a forecast, a detection and the events. Python's validator checks all schemas.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../src/config/process-environment.ts';
import { DEPENDENCY_PLUGIN, fetchOnce, maven } from '../../src/demo/local-kafka/java-artifacts.ts';
import { withBroker } from '../bench/local-broker.ts';
import { startedCommand } from '../bench/started-command.ts';

const run = promisify(execFile);
const GENERATOR = '7.25.0';
const JSONSCHEMA = '4.25.1';
/** Python's validator takes every schema, and its patterns are valid in Python. */
const CHECK_SCHEMAS = `
import json, pathlib, re, sys
from jsonschema.validators import validator_for
def patterns(part):
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            yield from patterns(value)
    elif isinstance(part, list):
        for value in part:
            yield from patterns(value)
for file in pathlib.Path(sys.argv[1]).glob("*.json"):
    schema = json.loads(file.read_text())
    if "openapi" not in schema:
        validator_for(schema).check_schema(schema)
    for pattern in patterns(schema):
        re.compile(pattern)
`;
const ROOT = join(import.meta.dirname, '../..');
const KEY = 'the-key-of-every-client-here';
const VALUES = Array.from({ length: 96 }, (_, i) => 100 + 20 * Math.sin((2 * Math.PI * i) / 24));
const EXPECTED = '12 values, 24 verdicts, 0 events';

async function generator(): Promise<string> {
  const folder = join(cacheFolder(), 'senders', `openapi-generator-${GENERATOR}`);
  await fetchOnce(folder, (target) =>
    maven([
      `${DEPENDENCY_PLUGIN}:copy`,
      `-Dartifact=org.openapitools:openapi-generator-cli:${GENERATOR}`,
      `-DoutputDirectory=${target}`,
      '-Dmdep.stripVersion=true',
    ]),
  );
  return join(folder, 'openapi-generator-cli.jar');
}

async function generate(name: string, out: string): Promise<void> {
  const document = join(ROOT, 'schemas/openapi.json');
  await run('java', ['-jar', await generator(), 'generate', '-i', document, '-g', name, '-o', out], {
    maxBuffer: 64 * 1024 * 1024,
  });
}

async function askByPython(folder: string, url: string): Promise<string> {
  await generate('python', join(folder, 'python'));
  const environment = join(folder, 'environment');
  await run('python3', ['-m', 'venv', environment]);
  const python = join(environment, 'bin/python');
  const packages = [join(folder, 'python'), `jsonschema==${JSONSCHEMA}`];
  await run(python, ['-m', 'pip', 'install', '-q', ...packages], { timeout: 600_000 });
  await run(python, ['-c', CHECK_SCHEMAS, join(ROOT, 'schemas')]);
  const program = `
import json, sys
from openapi_client import ApiClient, Configuration, DetectionApi, ForecastingApi, HistoryApi
from openapi_client.models import ForecastRequest, OnlineDetectionRequest
url, key, values = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
series = {"y": values, "sizes": [len(values)]}
with ApiClient(Configuration(host=url, access_token=key)) as client:
    forecast = ForecastingApi(client).forecast(ForecastRequest.from_dict({"series": series, "freq": "h", "h": 12}))
    request = OnlineDetectionRequest.from_dict({"series": series, "freq": "h", "h": 12, "detection_size": 24})
    detection = DetectionApi(client).detect_online(request)
    events = HistoryApi(client).list_events()
    print(f"{len(forecast.mean)} values, {len(detection.anomaly)} verdicts, {len(events.events)} events")
`;
  const { stdout } = await run(python, ['-c', program, url, KEY, JSON.stringify(VALUES)]);
  return stdout.trim();
}

async function askByTypeScript(folder: string, url: string): Promise<string> {
  const client = join(folder, 'typescript');
  await generate('typescript-fetch', client);
  const options = { target: 'es2022', module: 'commonjs', lib: ['es2022', 'dom'], types: [], strict: true };
  await writeFile(join(client, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, outDir: 'out' } }));
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', client]);
  const program = `
const { Configuration, DetectionApi, ForecastingApi, HistoryApi } = require(${JSON.stringify(join(client, 'out'))});
const [url, key, values] = process.argv.slice(1);
const series = { y: JSON.parse(values), sizes: [JSON.parse(values).length] };
const api = new Configuration({ basePath: url, accessToken: key });
(async () => {
  const forecastRequest = { series, freq: 'h', h: 12 };
  const forecast = await new ForecastingApi(api).forecast({ forecastRequest });
  const onlineDetectionRequest = { ...forecastRequest, detectionSize: 24 };
  const detection = await new DetectionApi(api).detectOnline({ onlineDetectionRequest });
  const { events } = await new HistoryApi(api).listEvents();
  console.log(forecast.mean.length + ' values, ' + detection.anomaly.length + ' verdicts, ' + events.length + ' events');
})();
`;
  const { stdout } = await run(process.execPath, ['-e', program, url, KEY, JSON.stringify(VALUES)]);
  return stdout.trim();
}

await withBroker(async ({ config: { brokers } }) => {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-clients-'));
  const data = { DATA_DIR: join(folder, 'data'), KAFKA_BROKERS: brokers.join() };
  const env = { TIDEWATCH_API_KEY: KEY, HTTP_PORT: '0', OPS_PORT: '0', ...data };
  const service = await startedCommand(['serve'], env, 'serving');
  try {
    for (const [language, ask] of Object.entries({ python: askByPython, typescript: askByTypeScript })) {
      const answer = await ask(folder, service.url);
      console.log(`${language} | openapi-generator ${GENERATOR} | ${answer}`);
      assert.equal(answer, EXPECTED);
    }
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
});
