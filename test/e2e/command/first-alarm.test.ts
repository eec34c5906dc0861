/** The page of the first alarm, as it is written: its files, and its commands in one shell each. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/demo/local-kafka/free-port.ts';
import { startAlertmanager, whyNoAlertmanager } from '../../fixture/alerts/alertmanager.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';
import { startPrometheus, whyNoPrometheus } from '../../fixture/http/prometheus.ts';
import { whyWithoutKafka } from '../../fixture/kafka/kafka.ts';
import { until } from '../../fixture/until.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const reason = whyWithoutKafka ?? whyNoPrometheus ?? whyNoAlertmanager;
const suffix = reason === null ? '' : ` (skipped: ${reason})`;
const MINUTE_MS = 60_000;
const STEPS = 12 * 60;

/** What a command says once it runs; one that is not here ends. */
const RUNS: readonly (readonly [command: RegExp, says: string])[] = [
  [/-- broker/, 'Kafka is up'],
  [/-- poll/, '"polling"'],
  [/-- worker/, '"worker started"'],
  [/-- incidents/, '"incidents started"'],
  [/-- serve/, '"serving"'],
  [/-- remote-write/, '"bands are written"'],
  [/-- alerts/, '"alerts started"'],
  [/-- receive/, '"receiving"'],
];

/** Half a day of a load, a value a minute, with an incident in its last five minutes. */
function history(): string {
  const endS = Math.floor(Date.now() / MINUTE_MS) * 60;
  const lines = Array.from({ length: STEPS }, (_, i) => {
    const value = 2 + Math.sin(i / 30) + 0.2 * Math.sin(i * 12.9898) + (i >= STEPS - 5 ? 9 : 0);
    return `node_load1{instance="a:9100",job="node"} ${value.toFixed(3)} ${endS - (STEPS - 1 - i) * 60}`;
  });
  return `# TYPE node_load1 gauge\n${lines.join('\n')}\n# EOF\n`;
}

/** The blocks of the page, with free ports in place of its own. */
async function blocks() {
  let page = await readFile(join(ROOT, 'deploy/book/first-alarm.md'), 'utf8');
  const ports = new Map<string, number>();
  for (const [, port] of page.matchAll(/(?:127\.0\.0\.1:|_PORT=|--port )(\d{4})/g)) {
    if (!ports.has(port)) ports.set(port, await freePort());
  }
  page = page.replaceAll(/(127\.0\.0\.1:|_PORT=|--port )(\d{4})/g, (_, before: string, port: string) => {
    return before + ports.get(port);
  });
  // The service takes 8080 where the page does not say.
  page = page.replaceAll(/^(?!.*HTTP_PORT)(.*-- serve)$/gm, `HTTP_PORT=${ports.get('8080')} $1`);
  const of = (language: string) =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, block]) => block);
  const at = (port: string) => `127.0.0.1:${ports.get(port)}`;
  return { shells: of('sh'), files: of('yaml'), at };
}

/** A terminal, in a folder of its own data. */
function terminal(t: TestContext, { script, cwd }: { readonly script: string; readonly cwd: string }) {
  const { PATH, HOME, XDG_CACHE_HOME } = process.env;
  const child: ChildProcess = spawn('bash', ['-euc', script], {
    cwd,
    env: { PATH, HOME, XDG_CACHE_HOME, DATA_DIR: join(cwd, 'data'), INFERENCE_THREADS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text: Buffer) => {
      said += text.toString();
    });
  }
  const closed = once(child, 'close');
  t.after(async () => {
    // The shell and what it runs. A broker ends its Java.
    if (child.exitCode === null) process.kill(-child.pid!, /main.ts broker/.test(script) ? 'SIGINT' : 'SIGKILL');
    await closed;
  });
  return { said: () => said, closed: closed.then(([code]) => code as number | null) };
}

test(`the page of the first alarm: each of its commands does what the page describes${suffix}`, {
  skip: reason !== null,
  timeout: 600_000,
}, async (t) => {
  const cwd = freshFolder();
  const { shells, files, at } = await blocks();
  const [detectors, prometheusFile, routes] = files;
  await writeFile(join(cwd, 'first.yaml'), detectors);
  await writeFile(join(cwd, 'routes.yaml'), routes);
  const rules = prometheusFile.replace('deploy/monitoring', join(ROOT, 'deploy/monitoring'));
  const flags = ['--web.enable-remote-write-receiver'];
  const config = `global: { scrape_interval: 3s, evaluation_interval: 1s }\n${rules}`;
  const { samples } = await startPrometheus(t, config, { history: history(), address: at('9090'), flags });
  const alertmanager = await startAlertmanager(t, { webhook: 'http://127.0.0.1:9/', address: at('9093') });
  const [environment, ...commands] = shells;
  const said: string[] = [];
  for (const block of commands) {
    const program = block.replaceAll('npm start -- ', `${process.execPath} ${join(ROOT, 'src/main.ts')} `);
    const { said: says, closed } = terminal(t, { script: environment + program, cwd });
    const run = RUNS.find(([command]) => command.test(block));
    if (run === undefined) assert.equal(await closed, 0, `${block}${says()}`);
    else {
      const failed = closed.then((code) => assert.fail(`${block}ended with ${code}: ${says()}`));
      failed.catch(() => undefined);
      await Promise.race([failed, until(`${block}says ${run[1]}`, () => says().includes(run[1]))]);
    }
    said.push(says());
    if (block.includes('-- serve'))
      await until(
        'the event is open',
        async () => (await openEvents(at('8080'), (await readFile(join(cwd, 'api.key'), 'utf8')).trim())) > 0,
      );
  }
  const areShown = RUNS.every(([command]) => commands.some((block) => command.test(block)));
  assert.equal(areShown, true);
  await until(
    'it is in Prometheus',
    async () => (await samples('tidewatch_open_event{metric="node_load1"}')).length === 1,
  );
  await until('its rule fires', async () => (await samples('ALERTS{alertname="TidewatchOpenEvent"}')).length === 1);
  const hadMs = Date.now() - 60 * MINUTE_MS;
  await until('its band of an hour ago is there', async () => {
    return (await samples('tidewatch_upper{time="event"} > tidewatch_lower', hadMs)).length === 1;
  });
  assert.ok(
    (await samples('tidewatch_grade{metric="node_load1",instance="a:9100",job="node"}')).every(
      ({ value }) => value > 0,
    ),
  );
  await until('Alertmanager has it', async () => (await alertmanager.alerts()).length === 1);
  const [{ labels }] = await alertmanager.alerts();
  assert.equal(labels.series, 'node_load1{instance="a:9100",job="node"}');
});

async function openEvents(address: string, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`http://${address}/v1/events?open=true`, { headers });
  return ((await answer.json()) as { events: readonly unknown[] }).events.length;
}
