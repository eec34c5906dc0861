import { useMemo, useState } from 'preact/hooks';
import { type ListedNames, listedNames, visibleId } from '../../../records/series/listed-names.ts';
import { html, Icon, type Shown } from './html.ts';

/** Names of the rows of a list, by an id for each row. */
export function useNames(rows: readonly string[]): ListedNames {
  return useMemo(() => listedNames(rows), [rows.join('\n')]);
}

export function SharedName({ names: { shared } }: { readonly names: ListedNames }): Shown {
  return (
    shared.length > 0 &&
    html`<p class="aside shared">${shared.length > 1 ? 'Shared by names of one form:' : 'Shared by all names:'}
      ${shared.map((text) => html` <code>${text}</code>`)}</p>`
  );
}

interface NameProps {
  readonly id: string;
  /** Those of its list; left out: the whole id is shown. */
  readonly names?: ListedNames;
}

export function Name({ id, names }: NameProps): Shown {
  return html`<span class="name" title=${id}>${names === undefined ? visibleId(id) : names.of(id)}</span>`;
}

const COPIED_MS = 1_500;

/** Copies the whole id, which a row may shorten. */
export function CopyId({ id, names }: NameProps): Shown {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(id));
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  const label = copied ? 'Copied' : `Copy the id of ${names === undefined ? visibleId(id) : names.of(id)}`;
  return html`<button type="button" class="copy" title=${copied ? 'Copied' : 'Copy the id'} aria-label=${label}
    onClick=${copy}><${Icon} name=${copied ? 'check' : 'copy'} /></button>`;
}

/** Browsers offer the clipboard to https and localhost alone, and users may deny it. False if nothing was copied. */
async function copyText(text: string): Promise<boolean> {
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (isCopied === true) return true;
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}
