import { NAME_LABEL, type SeriesLabels, sortedLabels } from '../../records/series/series-id.ts';

/** Further labels of a score, next to those of its series; null if it has none. */
interface OwnLabels {
  readonly detector: string;
  readonly group: string | null;
  readonly kind?: string;
  /** Set if it is written with its event time: its labels must differ from those of what is scraped. */
  readonly time?: 'event';
}

/**
 * Labels of one score, except its `__name__`. VictoriaMetrics leaves out series with more than 40 by default, and
 * answers 204. Labels of the series beyond it, the last by name, are omitted.
 */
const LABELS_MAX = 29;
const OWN_NAMES = ['metric', 'detector', 'group', 'kind', 'time'] as const;
const TAKEN = new RegExp(`^(?:exported_)*(?:${OWN_NAMES.join('|')})$`);

/**
 * The labels of a metric about a series, in their order: its own, the name of its metric as `metric`, and what the
 * score has. A label of the series that is named like one of those becomes `exported_NAME`, as in a scrape.
 * @param series its labels, the name as `__name__`
 */
export function scoreLabels(series: Readonly<Record<string, string>>, own: OwnLabels): SeriesLabels {
  const { [NAME_LABEL]: metric = null, ...others } = series;
  const all = { metric, ...own };
  const ownLabels = OWN_NAMES.flatMap((name) => (all[name] == null ? [] : [[name, all[name]] as const]));
  const labels = new Map<string, string>();
  for (const [written, value] of Object.entries(others)) {
    const name = labelName(written);
    const same = labels.get(name);
    // As exporters of OpenTelemetry do where two names become one.
    labels.set(name, same === undefined ? value : `${same};${value}`);
  }
  const kept = sortedLabels(labels).slice(0, LABELS_MAX - ownLabels.length);
  return sortedLabels(new Map([...kept, ...ownLabels]));
}

/** True if the labels of a series are not written as they are, so that those of another series may become the same. */
function isChanged(series: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(series).filter((name) => name !== NAME_LABEL);
  return names.length > LABELS_MAX - OWN_NAMES.length || names.some((name) => labelName(name) !== name);
}

/** Labels that are remembered with the series that has them. Series beyond it are not compared. */
const OWNERS_MAX = 100_000;

/** Decides which of several series with the same labels is written: one that is unchanged, else the least id. */
export class LabelOwners {
  readonly #owners = new Map<string, { readonly id: string; readonly isChanged: boolean }>();

  /** The id of the series that these labels belong to: `id`, or another one that comes before it. */
  ownerOf(id: string, series: Readonly<Record<string, string>>, labels: SeriesLabels): string {
    const key = JSON.stringify(labels);
    const own = { id, isChanged: isChanged(series) };
    const owner = this.#owners.get(key);
    if (owner === undefined && this.#owners.size >= OWNERS_MAX) return id;
    const isFirst = owner === undefined || (own.isChanged === owner.isChanged ? id < owner.id : owner.isChanged);
    if (isFirst) this.#owners.set(key, own);
    return isFirst ? id : owner.id;
  }
}

/** Names that begin with two underscores are Prometheus' own. */
function labelName(written: string): string {
  const valid = written
    .replaceAll(/[^a-zA-Z0-9_]/g, '_')
    .replace(/^(?=\d)/, '_')
    .replace(/^__+/, '_');
  return TAKEN.test(valid) ? `exported_${valid}` : valid;
}
