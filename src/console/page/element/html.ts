import htm from 'htm';
import { type ComponentChild, type ComponentChildren, h, type VNode } from 'preact';
import { elapsedText, timeText, zonedText } from '../../view/words/value-words.ts';

/** Marks that change the direction of the text around them: a name that has some could look like another one. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const withoutTurns = (text: string) => text.replace(DIRECTION_MARKS, '\ufffd');

const READ = ['title', 'aria-label'] as const;

/**
 * Markup of a page. Texts in it are text nodes or attributes, never markup, regardless of the names of series. Marks
 * that would turn the text around them are shown as what they are, one character that cannot be read.
 */
export const html = htm.bind(element) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

function element(type: string, props: Record<string, unknown> | null, ...children: unknown[]): VNode {
  const read = READ.filter((name) => props !== null && typeof props[name] === 'string');
  const shown = Object.fromEntries(read.map((name) => [name, withoutTurns(String(props![name]))]));
  const texts = children.map((child) => (typeof child === 'string' ? withoutTurns(child) : child));
  return h(type, read.length === 0 ? props : { ...props, ...shown }, ...(texts as ComponentChild[]));
}

export type Shown = ComponentChild;

export const typedIn = (event: Event) => (event.target as HTMLInputElement).value;

/** Class names; those of a false condition are omitted. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }): Shown {
  return html`<div class="empty"><p class="empty-title">${title}</p><p>${children}</p></div>`;
}

export function Failure({ text }: { readonly text: string }): Shown {
  return html`<p class="failure" role="alert">${text}</p>`;
}

export function Loading({ what }: { readonly what: string }): Shown {
  return html`<p class="loading" role="status">Reading ${what} …</p>`;
}

/** Drawings of 16 by 16, stroked in the colour of the text. */
const DRAWINGS: Readonly<Record<string, string>> = {
  now: 'M2 10c2-5 3.2-5 4.6 0s2.6 5 4 0 2-5 3.4-2',
  summary: 'M3 2.500h10v11H3zM5.500 5.500h5M5.500 8h5M5.500 10.500h3',
  series: 'M2 2v12h12M4.5 10l3-4 2.5 2.5L14 4',
  events: 'M2 4h5M5 8h8M3 12h4',
  incidents: 'M3.500 4h.010M12.500 4h.010M8 12.500h.010M3.500 4h9L8 12.500z',
  detectors: 'M3 4h6M13 4h0M11 2.5v3M3 8h2M9 8h4M7 6.500v3M3 12h7M14 12h0M12 10.500v3',
  backtest: 'M8 4.500V8l2.500 1.500M2.500 5.500A6 6 0 1 1 2 9M2 2.500v3h3',
  sun:
    'M8 5.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5zM8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500' +
    'M3.400 3.400l1 1M11.600 11.600l1 1M3.400 12.600l1-1M11.600 4.400l1-1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z',
  auto: 'M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11',
  clock: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 0 0 0-11zM8 5v3l2 1.500',
  pause: 'M5.500 3v10M10.500 3v10',
  leave: 'M6.500 3h-4v10h4M10 5l3 3-3 3M13 8H6',
  keys: 'M2 4.500h12v7.500H2zM4.500 7h.010M7 7h.010M9.500 7h.010M12 7h.010M5 9.500h6',
  copy: 'M6 5.500h7v8H6zM10 5.500v-3H3v8h3',
  check: 'M3 8.500l3.500 3.500L13 4.500',
  bell: 'M4 11V7.500a4 4 0 0 1 8 0V11l1 1.500H3zM7 14h2',
  mute: 'M4 11V7.500a4 4 0 0 1 6-3.400M12 8v3l1 1.500H5M2.500 2.500l11 11',
  back: 'M10 3L5 8l5 5',
  forth: 'M6 3l5 5-5 5',
  in: 'M7 3.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM9.700 9.700L13.500 13.500M5.500 7h3M7 5.500v3',
  out: 'M7 3.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM9.700 9.700L13.500 13.500M5.500 7h3',
  search: 'M7 3a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM10 10l3.500 3.500',
  close: 'M4 4l8 8M12 4l-8 8',
  // The kinds of anomalies, as they look in a chart.
  spike: 'M1.500 12H6l2-9 2 9h4.500',
  dip: 'M1.500 4H6l2 9 2-9h4.500',
  level_shift: 'M1.500 12h6V4h7',
  drift: 'M1.500 12h3L12 5l2.500-1',
  missing_season: 'M1.500 9c1.500-6 3-6 4.500 0M8 9h6.500',
  stuck: 'M1.500 9l1.500-4 2 6 1.500-3h8',
  burst: 'M1.500 8h3l1-4 1.500 9 1.500-10 1.500 9 1-4h3.500',
  silence: 'M1.500 8h4.500M9 8h.010M11.500 8h.010M14 8h.010',
};

/** A drawing next to a text; hidden from screen readers, which read the text. */
export function Icon({ name }: { readonly name: string }): Shown {
  return html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d=${DRAWINGS[name] ?? DRAWINGS.now} />
  </svg>`;
}

/** The sign of the product: a tide, and one observation above it. */
export function Wave(): Shown {
  return html`<svg class="wave" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <path d="M3 19c4-8 6-8 9 0s5 8 8 0 5-8 9 0" />
    <circle cx="25" cy="8" r="3" />
  </svg>`;
}

/** `since 12:00, 55 min`. */
export function Since({ atMs, nowMs }: { readonly atMs: number; readonly nowMs: number }): Shown {
  const text = `since ${timeText(atMs, nowMs)}, ${elapsedText(nowMs - atMs)}`;
  return html`<time class="since" title=${zonedText(atMs)}>${text}</time>`;
}
