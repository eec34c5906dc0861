import { NAME_LABEL, type SeriesLabels, sortedLabels } from '../series/series-id.ts';

/** What a score has beside the labels of its series; null where it has none. */
interface OwnLabels {
  readonly detector: string;
  readonly group: string | null;
  /** What an event is. */
  readonly kind?: string;
  /** Where it is written with its event time: its labels must differ from those of what is scraped. */
  readonly time?: 'event';
}

const OWN_NAMES = ['metric', 'detector', 'group', 'kind', 'time'] as const;
const TAKEN = new RegExp(`^(?:exported_)*(?:${OWN_NAMES.join('|')})$`);

/**
 * The labels of what is said about a series, in their order: its own, the name of its metric as `metric`, and what the
 * score has. A label of the series that is named like one of those becomes `exported_NAME`, as in a scrape.
 * @param series its labels, the name as `__name__`
 */
export function scoreLabels(series: Readonly<Record<string, string>>, own: OwnLabels): SeriesLabels {
  const { [NAME_LABEL]: metric = null, ...others } = series;
  const labels = new Map<string, string>();
  for (const [written, value] of Object.entries(others)) {
    const name = labelName(written);
    const same = labels.get(name);
    // As exporters of OpenTelemetry do where two names become one.
    labels.set(name, same === undefined ? value : `${same};${value}`);
  }
  const all = { metric, ...own };
  for (const name of OWN_NAMES) if (all[name] != null) labels.set(name, all[name]);
  return sortedLabels(labels);
}

/** Names that begin with two underscores are Prometheus' own. */
function labelName(written: string): string {
  const valid = written
    .replaceAll(/[^a-zA-Z0-9_]/g, '_')
    .replace(/^(?=\d)/, '_')
    .replace(/^__+/, '_');
  return TAKEN.test(valid) ? `exported_${valid}` : valid;
}
