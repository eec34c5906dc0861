/** `npm run screenshots`: pictures of the console for the README, light and dark, over a fleet that never changes. */
import { writeFile } from 'node:fs/promises';
import { startChromium } from '../fixture/console/chromium.ts';
import { COMPANY, startConsole, TROUBLES } from '../fixture/console/console-service.ts';
import { goTo, signIn } from '../fixture/console/page-steps.ts';

const FOLDER = new URL('../../src/console/screenshots/', import.meta.url);
const SIZE = { width: 1_280, height: 800 };
const BYTES_MAX = 300_000;

const PICTURES = [
  { name: 'now', hash: '#/now', selector: '.line' },
  { name: 'series', hash: `#/series/${encodeURIComponent('web-2/latency-p95')}`, selector: '.event-detail' },
  { name: 'events', hash: '#/events', selector: '.table' },
  { name: 'detectors', hash: '#/detectors/hosts', selector: '.what-if' },
] as const;

const service = await startConsole({ names: COMPANY, incidents: TROUBLES });
const browser = await startChromium();
for (const colorScheme of ['light', 'dark'] as const) {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', viewport: SIZE, colorScheme });
  await context.addInitScript("localStorage.setItem('tidewatch.tour', 'seen')");
  const page = await context.newPage();
  await page.goto(`${service.url}/console`);
  await signIn(page);
  for (const { name, hash, selector } of PICTURES) {
    await page.waitForSelector('.rail');
    await goTo(page, hash, selector);
    await page.mouse.move(SIZE.width - 1, SIZE.height - 1);
    if (name === 'detectors') await tryOtherSettings();
    await page.waitForTimeout(1_200);
    const picture = await page.screenshot();
    if (picture.length > BYTES_MAX) throw new Error(`${name} has ${picture.length} bytes`);
    await writeFile(new URL(`${name}-${colorScheme}.png`, FOLDER), picture);
    console.log(`${name}-${colorScheme}.png ${Math.round(picture.length / 1_000)} KB`);
  }
  await context.close();

  async function tryOtherSettings(): Promise<void> {
    await page.getByLabel('Series', { exact: true }).fill('web-2/latency-p95');
    await page.getByLabel('False alarms').fill('1/month');
    await page.getByRole('button', { name: 'Try it' }).click();
    await page.getByText('As it would be').waitFor();
  }
}
await browser.close();
await service.stop();
