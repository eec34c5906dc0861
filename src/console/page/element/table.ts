import { classes, html, type Shown } from './html.ts';

export interface TableColumn<Row> {
  /** Empty: of buttons, which screen readers call actions. */
  readonly title: string;
  readonly cell: (row: Row) => Shown;
  /** A number, aligned to the right. */
  readonly isFigure?: boolean;
  /** What the row is about. */
  readonly isHead?: boolean;
  /** Whether the value of the row needs attention. */
  readonly isAbove?: (row: Row) => boolean;
}

interface TableProps<Row> {
  /** For screen readers. */
  readonly name: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly isChosen?: (row: Row) => boolean;
}

/** The table of the settings area: one row each, which scrolls sideways on a narrow screen. */
export function Table<Row>({ name, columns, rows, keyOf, isChosen }: TableProps<Row>): Shown {
  return html`<div class="table-frame" tabindex="0" role="region" aria-label=${name}><table class="table">
    <thead><tr>${columns.map(
      ({ title, isFigure }) =>
        html`<th scope="col" class=${classes(isFigure && 'figure')}>${
          title === '' ? html`<span class="sr">Actions</span>` : title
        }</th>`,
    )}</tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr key=${keyOf(row)} class=${classes(isChosen?.(row) && 'chosen')}>${columns.map(
          ({ cell, isFigure, isHead, isAbove }) =>
            isHead
              ? html`<th scope="row">${cell(row)}</th>`
              : html`<td class=${classes(isFigure && 'figure', isAbove?.(row) && 'above')}>${cell(row)}</td>`,
        )}</tr>`,
    )}</tbody></table></div>`;
}
