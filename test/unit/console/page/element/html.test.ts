import assert from 'node:assert/strict';
import { test } from 'node:test';

// Its types are those of a browser.
const page: string = '../../../../../src/console/page/element/html.ts';
const { html } = await import(page);

test('marks that turn text are visible in texts and titles, and stay in addresses', () => {
  for (const mark of ['\u202a', '\u202e', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c']) {
    const { props } = html`<a href=${`#/series/a${mark}`} title=${`a${mark}`}>${`a${mark}`} b</a>`;
    assert.equal(props.href, `#/series/a${mark}`);
    assert.deepEqual([props.title, props.children], ['a\ufffd', ['a\ufffd', ' b']]);
  }
});

test('letters of any script, joined emoji, tabs and line breaks stay', () => {
  for (const kept of ['שלום', 'مرحبا', '👩‍💻', 'a\tb\n']) assert.equal(html`<p>${kept}</p>`.props.children, kept);
});
