import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportPage } from '../../../src/console/report-page.ts';

const HOSTILE = '</script><script>alert(1)</script><!--';

test('what is in a report cannot end the element that holds it', () => {
  const page = reportPage({ title: HOSTILE, series: [], events: [] });
  assert.equal(page.includes('alert(1)</script>'), false);
  assert.equal(page.match(/<script/g)?.length, 3);
  const [, json] = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(page)!;
  assert.deepEqual(JSON.parse(json), { title: HOSTILE, series: [], events: [] });
});

test('every module is inside, under the name that the others import it by', () => {
  const page = reportPage({ title: 'Backtest', series: [], events: [] });
  const [, map] = /<script type="importmap">(.*?)<\/script>/s.exec(page)!;
  const { imports } = JSON.parse(map) as { imports: Record<string, string> };
  for (const [name, address] of Object.entries(imports)) {
    const code = Buffer.from(address.slice(address.indexOf(',') + 1), 'base64').toString();
    for (const [, target] of code.matchAll(/\b(?:from|import)\s*["']([^"'\n]+)["']/g)) {
      assert.equal(target in imports, true, `${name} imports ${target}`);
    }
  }
  assert.doesNotMatch(page.replace(/xmlns="[^"]+"/g, ''), /(?:src|href)="(?!data:)/);
});
