import type { ShownSeries } from '../../../view/scores/shown-scores.ts';
import { hostOf } from '../../../view/words/event-words.ts';
import { type Console, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { SharedName, useNames } from '../../element/series-name.ts';
import { SeriesTile } from './series-tile.ts';

const NEIGHBOURS_MAX = 8;
const VALUES = 60;
const EVERY_MS = 15_000;

interface NeighboursProps {
  readonly app: Console;
  readonly series: string;
  readonly group: string | null;
}

/** The other series of the same group, or of the same host: what happened there at the same time. */
export function Neighbours({ app, series, group }: NeighboursProps): Shown {
  const host = hostOf(series);
  const load = async (): Promise<readonly ShownSeries[]> => {
    if (group === null && host === null) return [];
    const shared = { limit: 50, recent: VALUES, sort: 'grade' as const };
    const { series: rows } = await app.source.seriesList(
      group === null ? { ...shared, search: host ?? '' } : { ...shared, group },
    );
    const near = rows.filter(({ series: id }) => id !== series && (group !== null || id.startsWith(host ?? '')));
    return near.slice(0, NEIGHBOURS_MAX);
  };
  const { value } = useLoaded(`near ${series}`, load, EVERY_MS);
  const names = useNames((value ?? []).map(({ series: id }) => id));
  if (value === null || value.length === 0) return null;
  return html`<section class="panel"><h2>
    ${group === null ? `Other series of ${host?.slice(0, -1)}` : `Other series of group ${group}`}</h2>
    <${SharedName} names=${names} />
    <ul class="tiles stacked">${value.map(
      (row) => html`<${SeriesTile} key=${row.series} row=${row} names=${names} />`,
    )}</ul>
  </section>`;
}
