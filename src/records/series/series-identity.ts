import { canonicalId, labelsOfId, NAME_LABEL, seriesOfId, sortedLabels } from './series-id.ts';

/** Naming of a series after it was read. */
interface SeriesIdentity {
  /** The id that it is scored under. */
  readonly id: string;
  /** The id of its name and labels, without those that are dropped. Where there is no template it is `id`. */
  readonly source: string;
  /** The sender that wrote it, of several of the same series; left out if that is not known. */
  readonly replica?: string;
  /** `source` with the label of the replica, as its record has it; left out without one. */
  readonly carried?: string;
}

export type IdentityOf = (written: string) => SeriesIdentity;

interface IdentitySettings {
  /** Labels that do not distinguish series. */
  readonly dropLabels?: readonly string[] | undefined;
  /** `{label}` is replaced by the value of a label, the empty text if the series does not have it. */
  readonly idTemplate?: string | null | undefined;
  /** The label that names the replica of a sender, which does not distinguish series either. */
  readonly replicaLabel?: string | null | undefined;
}

/** Series whose identity is remembered, unless their ids are longer. A full cache is cleared. */
const SERIES_MAX = 200_000;
const REMEMBERED_LENGTH_MAX = 2_048;

/** The identity of a series that is called what its record calls it. */
export function bareIdentity(written: string): SeriesIdentity {
  return { id: written, source: written };
}

/** The identity of a series by the id in its record; null if each is its own. */
export function seriesIdentity(settings: IdentitySettings): IdentityOf | null {
  const { dropLabels = [], idTemplate = null, replicaLabel = null } = settings;
  if (dropLabels.length === 0 && idTemplate === null && replicaLabel === null) return null;
  const dropped = new Set(dropLabels);
  const ofReplica = new Set(replicaLabel === null ? [] : [replicaLabel]);
  const parts = idTemplate === null ? null : templateParts(idTemplate);
  const known = new Map<string, SeriesIdentity>();
  return (written) => {
    let identity = known.get(written);
    if (identity === undefined) {
      const carried = keptId(written, dropped);
      const source = keptId(carried, ofReplica);
      const replica = carried === source ? undefined : labelsOfId(carried)[replicaLabel ?? ''];
      const id = parts === null ? source : filled(parts, labelsOfId(source));
      identity = replica === undefined ? { id, source } : { id, source, replica, carried };
      if (known.size >= SERIES_MAX) known.clear();
      if (written.length <= REMEMBERED_LENGTH_MAX) known.set(written, identity);
    }
    return identity;
  };
}

/** An id without labels stays as it is. */
function keptId(written: string, dropped: ReadonlySet<string>): string {
  const { name, labels } = seriesOfId(written);
  if (labels.length === 0) return written;
  const kept = labels.filter(([label]) => !dropped.has(label));
  return kept.length === labels.length ? written : canonicalId(name, kept);
}

/** Texts, and between them the names of labels. */
type TemplateParts = readonly { readonly text: string; readonly label: string }[];

const TEMPLATE = /^(?:[^{}]*\{[^{}]+\})+[^{}]*$/;

/** True if a text is a template: at least one `{label}`, and braces nowhere else. */
export function isIdTemplate(text: string): boolean {
  return TEMPLATE.test(text);
}

function templateParts(template: string): TemplateParts {
  return template.split('}').map((part) => {
    const [text, label = ''] = part.split('{');
    return { text, label };
  });
}

function filled(parts: TemplateParts, labels: Readonly<Record<string, string>>): string {
  return parts.map(({ text, label }) => text + (Object.hasOwn(labels, label) ? labels[label] : '')).join('');
}

/** The id of the group that a series belongs to by its labels: `{instance="a:9100",job="node"}`, or `{}`. */
export function groupIdOf(source: string, by: readonly string[]): string {
  const labels = labelsOfId(source);
  const own = by.filter((label) => label !== NAME_LABEL && Object.hasOwn(labels, label));
  const name = by.includes(NAME_LABEL) ? (labels[NAME_LABEL] ?? '') : '';
  return canonicalId(name, sortedLabels(own.map((label) => [label, labels[label]] as const))) || '{}';
}
