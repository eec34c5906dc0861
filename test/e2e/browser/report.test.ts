import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { startCommand } from '../../fixture/command.ts';
import { openFile } from '../../fixture/console/opened-page.ts';
import { axeFindings, goTo } from '../../fixture/console/page-steps.ts';
import { freshFolder } from '../../fixture/fresh-folder.ts';

const folder = freshFolder();

const ROWS = 900;
const HOSTILE = '</script><img src=x onerror=window.hit=1>';

/** Two series with a season; one of them jumps near its end. */
function csv(): string {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const season = Math.sin((i / 24) * 2 * Math.PI) + 0.1 * Math.sin(i * 12.9898);
    const time = new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString();
    return `web-1/cpu,${time},${10 + season}\n"${HOSTILE}",${time},${10 + season + (i > 860 ? 9 : 0)}\n`;
  });
  return `series,timestamp,value\n${rows.join('')}`;
}

test('a backtest writes one page that shows scores and events in a browser, without any service', async () => {
  const [input, report] = [join(folder, 'past.csv'), join(folder, 'report.html')];
  await writeFile(input, csv());
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
