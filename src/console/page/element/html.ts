import htm from 'htm';
import { type ComponentChild, h, type VNode } from 'preact';

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
