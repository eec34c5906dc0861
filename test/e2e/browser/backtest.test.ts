import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startCommand } from '../../fixture/command.ts';
import { openFile, openSignedIn } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo } from '../../fixture/console/page-steps.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

const ROWS = 900;
const HOSTILE = '</script><img src=x onerror=window.hit=1>';
const API_KEY = 'the-key-of-the-one-who-drops-files';

/** Two series with a season; the other one jumps near its end. */
function csv(other: string): string {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const season = Math.sin((i / 24) * 2 * Math.PI) + 0.1 * Math.sin(i * 12.9898);
    const time = new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString();
    return `web-1/cpu,${time},${10 + season}\n"${other}",${time},${10 + season + (i > 860 ? 9 : 0)}\n`;
  });
  return `series,timestamp,value\n${rows.join('')}`;
}

test('a backtest writes one page that shows scores and events in a browser, without any service', async () => {
  const folder = freshFolder();
  const [input, report] = [join(folder, 'past.csv'), join(folder, 'report.html')];
  await writeFile(input, csv(HOSTILE));
  const flags = ['--h', '24', '--detection-size', '24', '--out', join(folder, 'scores.csv'), '--report', report];
  const command = startCommand(['backtest', input, ...flags], { DATA_DIR: folder, INFERENCE_THREADS: '1' });
  assert.equal(await command.exitCode, 0, command.err.join('\n'));
  const { page, troubles } = await openFile(pathToFileURL(report).href);
  await page.getByRole('heading', { name: / events? in 2 series$/ }).waitFor();
  await page.locator('.table').getByText(HOSTILE).first().waitFor();
  await goTo(page, '#/series', '.tile');
  assert.deepEqual((await page.locator('.tile .name').allTextContents()).toSorted(), [HOSTILE, 'web-1/cpu']);
  await goTo(page, `#/series/${encodeURIComponent(HOSTILE)}`, '.event-detail');
  // The chart opens at the event that is explained, near the end of January.
  await page.locator('.chart[aria-label*="to 2026-02-0"][aria-label*="with 1 events"]').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Acknowledge' }).count(), 0);
  await goTo(page, '#/events', '.table');
  assert.deepEqual(await axeFindings(page), []);
  assert.equal(await page.evaluate('window.hit'), undefined);
  assert.deepEqual(troubles, []);
});

test('a CSV file that is dropped is scored in a sandbox, and shown in the same pages', async () => {
  const env = { DATA_DIR: freshFolder(), HTTP_PORT: '0', OPS_PORT: '0', INFERENCE_THREADS: '1' };
  const command = startCommand(['serve'], { ...env, TIDEWATCH_API_KEY: API_KEY });
  const { url } = await command.logged('serving');
  try {
    const { page } = await openSignedIn(url, { key: API_KEY });
    await page.getByRole('link', { name: 'Backtest' }).click();
    const choose = (text: string) =>
      page
        .locator('input[type=file]')
        .setInputFiles({ name: 'past.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose('nothing,to,read\n1,2,3\n');
    await page.getByText('there is no time column').waitFor();
    await choose(`${csv('web-2/cpu')}web-1/cpu,never,1\n`);
    await page.getByText('1 row was refused').waitFor();
    await page.getByText(/line 1802: /).waitFor();
    await page.getByRole('button', { name: 'Show the backtest' }).click();
    await page.getByText('Backtest of past.csv').waitFor();
    await page.reload();
    await page.getByText('Backtest of past.csv').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as a file' }).click();
    const file = join(freshFolder(), 'report.html');
    await (await saved).saveAs(file);
    const { page: shared, troubles } = await openFile(pathToFileURL(file).href);
    await shared.locator('tbody th a', { hasText: 'web-2/cpu' }).first().waitFor();
    assert.deepEqual(troubles, []);
    await page.locator('tbody th a', { hasText: 'web-2/cpu' }).first().click();
    await page.waitForSelector('.event-detail');
    await page.getByRole('button', { name: 'Back to the service' }).click();
    await page.getByRole('heading', { name: 'Backtest' }).waitFor();
    assert.equal(await page.locator('.not-current').count(), 0);
  } finally {
    command.interrupt();
    assert.equal(await command.exitCode, 0);
  }
});
