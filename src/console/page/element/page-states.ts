import type { ComponentChildren } from 'preact';
import { html, type Shown } from './html.ts';

export function Empty({ title, children }: { readonly title: string; readonly children: ComponentChildren }): Shown {
  return html`<div class="empty"><p class="empty-title">${title}</p><p>${children}</p></div>`;
}

export function Failure({ text }: { readonly text: string }): Shown {
  return html`<p class="failure" role="alert">${text}</p>`;
}

export function Loading({ what }: { readonly what: string }): Shown {
  return html`<p class="loading" role="status">Reading ${what} …</p>`;
}
