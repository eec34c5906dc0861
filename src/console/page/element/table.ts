import type { LabelGroup } from '../../view/label-groups.ts';
import { GroupName } from './grouped.ts';
import { classes, html, type Shown } from './html.ts';

export interface TableColumn<Row> {
  /** Empty: of buttons, which screen readers call actions. */
  readonly title: string;
  readonly cell: (row: Row) => Shown;
  readonly isFigure?: boolean;
  readonly isHead?: boolean;
  /** True if the value of the row needs attention. */
  readonly isAbove?: (row: Row) => boolean;
  readonly sort?: TableSort;
}

interface TableSort {
  /** Address of the page with this order, or with the opposite one. */
  readonly href: string;
  /** null: sorted by another column. */
  readonly direction: 'ascending' | 'descending' | null;
}

interface TableProps<Row> {
  readonly name: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows?: readonly Row[];
  /** Omitted: one group of `rows`, without a name. */
  readonly groups?: readonly LabelGroup<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly rowClass?: (row: Row) => string;
}

/** One row each, or one card each where the table would not fit. */
export function Table<Row>(props: TableProps<Row>): Shown {
  const { name, columns, rows = [], groups = [{ name: null, items: rows }], keyOf, rowClass } = props;
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${name}><table class="table">
    <thead><tr>${columns.map(
      ({ title, isFigure, sort }) =>
        html`<th scope="col" class=${classes(isFigure && 'figure')} aria-sort=${sort?.direction ?? null}>${
          title === ''
            ? html`<span class="sr">Actions</span>`
            : sort === undefined
              ? title
              : html`<a href=${sort.href}>${title}</a>`
        }</th>`,
    )}</tr></thead>
    ${groups.map(
      (group) => html`<tbody key=${group.name}>
        ${
          group.name !== null &&
          html`<tr><th scope="rowgroup" colspan=${columns.length}><${GroupName} group=${group} /></th></tr>`
        }
        ${group.items.map(
          (row) =>
            html`<tr key=${keyOf(row)} class=${rowClass?.(row) ?? ''}>${columns.map(
              ({ title, cell, isFigure, isHead, isAbove }) =>
                isHead
                  ? html`<th scope="row">${cell(row)}</th>`
                  : html`<td class=${classes(isFigure && 'figure', isAbove?.(row) && 'above')}
                    data-title=${title}>${cell(row)}</td>`,
            )}</tr>`,
        )}</tbody>`,
    )}</table></div>`;
}
