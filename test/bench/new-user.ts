import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChromium } from '../fixture/console/chromium.ts';
import { goTo, signIn } from '../fixture/console/page-steps.ts';
import { until } from '../fixture/until.ts';
import type { Bench } from './bench.ts';
import { printTable } from './table.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
/** The limit is five minutes; a slow network is waited for. */
const WAIT = { waitMsMax: 900_000, everyMs: 250 };

/**
 * What a new user does: clones, installs, starts. Measured until the first event stands in the console, in a real
 * browser, and until a webhook has it. `--root FOLDER` starts an installed checkout, without clone and installation.
 */
export const run: Bench = async (args) => {
  const folder = await mkdtemp(join(tmpdir(), 'tidewatch-new-user-'));
  const startedMs = performance.now();
  const seconds = () => Math.round((performance.now() - startedMs) / 100) / 10;
  const figures: Record<string, number> = {};
  const given = args[0] === '--root' ? args[1] : undefined;
  const receiver = await startReceiver();
  const checkout = given ?? join(folder, 'tidewatch');
  try {
    if (given === undefined) {
      await ended('git', ['clone', '--quiet', ROOT, checkout], folder);
      figures.clone_s = seconds();
      await ended('npm', ['ci', '--no-audit', '--no-fund'], checkout);
      figures.install_s = seconds();
    }
    await writeFile(join(folder, 'routes.yaml'), routesTo(receiver.url));
    const service = startService(checkout, folder);
    try {
      await until('the console has an address', () => service.hasEnded() || service.out.includes('/console'), WAIT);
      figures.console_s = seconds();
      const [, url] = /console is at (\S+?)\/console/.exec(service.out)!;
      const [, key] = /(tw_[\w-]+)/.exec(service.out)!;
      await Promise.all([
        seenInConsole(url, key).then(() => {
          figures.event_in_console_s = seconds();
        }),
        receiver.first.then(() => {
          figures.event_in_webhook_s = seconds();
        }),
      ]);
    } finally {
      await service.stop();
    }
  } finally {
    receiver.close();
    await rm(folder, { recursive: true, force: true });
  }
  printTable('From nothing to the first event', ['what', 'after s'], Object.entries(figures));
  return figures;
};

async function seenInConsole(url: string, key: string): Promise<void> {
  const browser = await startChromium();
  try {
    const page = await (await browser.newContext({ locale: 'en-US', timezoneId: 'UTC' })).newPage();
    await page.goto(`${url}/console`);
    await signIn(page, key);
    await goTo(page, '#/events', 'h1');
    await page.locator('tbody tr').first().waitFor({ timeout: WAIT.waitMsMax });
  } finally {
    await browser.close();
  }
}

/** A webhook of this machine. */
async function startReceiver() {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume();
    response.end();
    resolve();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, first, close: () => server.close() };
}

const routesTo = (url: string) => `allow_private: ["127.0.0.1"]
receivers:
  - name: mine
    webhook: {url: "${url}"}
routes:
  - {name: all, receivers: [mine]}
`;

function startService(checkout: string, folder: string) {
  const env = { ...process.env, DATA_DIR: join(folder, 'data'), HTTP_PORT: '0', OPS_PORT: '0' };
  const args = ['src/main.ts', 'start', '--routes', join(folder, 'routes.yaml')];
  const child = spawn(join(checkout, 'node_modules/.bin/node'), args, { cwd: checkout, env });
  let over = false;
  const service = { out: '', hasEnded: () => over, stop };
  child.stdout.on('data', (bytes: Buffer) => {
    service.out += bytes.toString();
  });
  child.stderr.on('data', (bytes: Buffer) => process.stderr.write(bytes));
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve())).then(() => {
    over = true;
  });
  return service;

  async function stop(): Promise<void> {
    child.kill('SIGINT');
    await gone;
  }
}

async function ended(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
}
