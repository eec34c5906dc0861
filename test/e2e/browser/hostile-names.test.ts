import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visibleId } from '../../../src/records/series/listed-names.ts';
import { PAST, startConsole } from '../../fixture/console/console-service.ts';
import { openSignedIn } from '../../fixture/console/opened-page.ts';
import { goTo, untilCount } from '../../fixture/console/page-steps.ts';

/** Names that would be markup, code, an address, or something else than they seem. */
const HOSTILE = [
  '<img src=x onerror="window.hit=1">',
  '"><script>window.hit=1</script>',
  "'-window.hit=1-'",
  'javascript:window.hit=1',
  '</title></style></svg><svg onload=window.hit=1>',
  '../../../etc/passwd?x=1#y&z=%2F%00',
  '\u202egnp.rebmem\u202c',
  `very-long/${'x'.repeat(400)}`,
  '{{constructor.constructor("window.hit=1")()}}',
  ' ',
];

test('hostile names of series stay text on every page', async () => {
  const incidents = HOSTILE.map((_, series) => {
    return { series, kind: 'level_shift' as const, from: PAST - 20 - series, until: null, size: 0.6 };
  });
  const service = await startConsole({ names: HOSTILE, incidents });
  try {
    const { page, troubles } = await openSignedIn(service.url);
    await untilCount(page, '.line', HOSTILE.length);
    const shown = await page.locator('.line .what .name').allTextContents();
    assert.deepEqual(shown.toSorted(), HOSTILE.map(visibleId).toSorted());
    for (const [hash, selector] of [
      ['#/series', '.tile'],
      ['#/events', '.table'],
    ] as const) {
      await goTo(page, hash, selector);
    }
    for (const name of HOSTILE) {
      await goTo(page, '#/now', '.line');
      await page
        .locator('.line')
        .nth(shown.indexOf(visibleId(name)))
        .locator('a')
        .click();
      await page.waitForSelector('.event-detail');
      assert.equal(await page.locator('h1').textContent(), visibleId(name));
    }
    assert.equal(await page.evaluate('window.hit'), undefined);
    assert.deepEqual(troubles, []);
  } finally {
    await service.stop();
  }
});
