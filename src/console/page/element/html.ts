import htm from 'htm';
import { type ComponentChild, h, type VNode } from 'preact';

/** Markup of a page. Texts in it are text nodes or attributes, never markup: whatever a series is called. */
export const html = htm.bind(h) as (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

/** What a component may return. */
export type Shown = ComponentChild;

/** What is typed or chosen in the element of an event. */
export const typedIn = (event: Event) => (event.target as HTMLInputElement).value;

/** Class names; those of a false condition are left out. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}
