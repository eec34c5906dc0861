import { html, type Shown } from './html.ts';

/** The sign of the product: a tide, and one observation above it. */
export function Wave(): Shown {
  return html`<svg class="wave" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <path d="M3 19c4-8 6-8 9 0s5 8 8 0 5-8 9 0" />
    <circle cx="25" cy="8" r="3" />
  </svg>`;
}
