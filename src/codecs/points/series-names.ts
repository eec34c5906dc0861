import { canonicalId, type LabelledSeries, NAME_LABEL, type SeriesLabels } from '../../records/series/series-id.ts';
import { DROP_REMEDY, SERIES_LABELS_MAX } from '../observations/id-check.ts';

/** Bytes of names and labels that are remembered, about. Beyond it all are forgotten, and read again. */
export const NAMES_BYTES_MAX = 16 * 1024 * 1024;
/** A longer one is read each time. */
const KEY_LENGTH_MAX = 4_096;
/** Characters of an id in a reason. */
const SHOWN_LENGTH_MAX = 200;

export interface SeriesName {
  /** Cut where it is unusable. */
  readonly id: string;
  readonly name: string;
  readonly labels: SeriesLabels;
  /** Why its points cannot be used; null if they can. */
  readonly unusable: string | null;
}

/** @param labels in their canonical order */
export function namedSeries(name: string, labels: SeriesLabels): SeriesName {
  const unusable = whyUnusable(name, labels);
  if (unusable === null) return { id: canonicalId(name, labels), name, labels, unusable };
  const id = canonicalId(name.slice(0, SHOWN_LENGTH_MAX), labels.slice(0, 2)).slice(0, SHOWN_LENGTH_MAX);
  return { id, name: '', labels: [], unusable };
}

function whyUnusable(name: string, labels: SeriesLabels): string | null {
  if (name === '') return 'the metric has no name';
  if (labels.length > SERIES_LABELS_MAX) {
    return `the series has ${labels.length} labels, more than ${SERIES_LABELS_MAX}: ${DROP_REMEDY}`;
  }
  const twice = labels.find(([label], i) => label === NAME_LABEL || (i > 0 && labels[i - 1]?.[0] === label));
  return twice === undefined ? null : `the series has the label ${twice[0]} twice`;
}

/** Series by the bytes that name them, within a scope such as a metric. */
export type NamesOfScope = Map<string, SeriesName>;

/**
 * Series that records have named, by the bytes that named them: senders repeat them with every record, and to read,
 * sort and quote labels takes longer than all else.
 */
export class SeriesNames {
  readonly #scopes = new Map<string, NamesOfScope>();
  readonly #dropped: ReadonlySet<string>;
  #bytes = 0;

  /** @param dropLabels do not count towards any limit of a series */
  constructor(dropLabels: readonly string[] = []) {
    this.#dropped = new Set(dropLabels);
  }

  scope(key: string): NamesOfScope {
    let scope = this.#scopes.get(key);
    if (scope === undefined) {
      scope = new Map();
      // A scope that is kept for one record only, where it is long.
      if (key.length <= KEY_LENGTH_MAX) this.#keep(key, () => this.#scopes.set(flat(key), scope!));
    }
    return scope;
  }

  /** @param read called where the series is not remembered; labels are in their canonical order */
  find(scope: NamesOfScope, key: string, read: () => LabelledSeries): SeriesName {
    const found = scope.get(key);
    if (found !== undefined) return found;
    const { name, labels } = read();
    const kept = this.#dropped.size === 0 ? labels : labels.filter(([label]) => !this.#dropped.has(label));
    const series = namedSeries(name, kept);
    if (key.length <= KEY_LENGTH_MAX) this.#keep(key, () => scope.set(flat(key), series));
    return series;
  }

  #keep(key: string, keep: () => void): void {
    this.#bytes += 200 + 4 * key.length;
    if (this.#bytes > NAMES_BYTES_MAX) {
      this.#bytes = 0;
      this.#scopes.clear();
    }
    keep();
  }
}

/** A copy that does not hold the text of a whole record, of which it is a part. */
function flat(key: string): string {
  const encoding = WIDE.test(key) ? 'utf16le' : 'latin1';
  return Buffer.from(key, encoding).toString(encoding);
}

const WIDE = /[^\0-\xff]/;
