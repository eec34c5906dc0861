import { useRef } from 'preact/hooks';
import { type ListedSeries, type SeriesListQuery, searchedSeries } from '../../../view/console-source.ts';
import { groupsBy, labelledSeries } from '../../../view/label-groups.ts';
import { routeTo } from '../../../view/route.ts';
import type { ShownSeries } from '../../../view/scores/shown-scores.ts';
import { counted } from '../../../view/words/value-words.ts';
import { GroupChoice, GroupName } from '../../element/grouped.ts';
import { type Props, usePages, useTyped } from '../../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown, typedIn } from '../../element/html.ts';
import { SharedName, useNames } from '../../element/series-name.ts';
import { OneSeries } from './one-series.ts';
import { SeriesTile } from './series-tile.ts';

const PAGE_ROWS = 60;
const VALUES = 60;
const EVERY_MS = 10_000;

export function SeriesPage({ app, route }: Props<'app' | 'route'>): Shown {
  const { subject } = route;
  if (subject === null) return html`<${SeriesList} app=${app} route=${route} />`;
  return html`<${OneSeries} key=${subject} app=${app} series=${subject} eventId=${route.query.event ?? null} />`;
}

const PAGING = {
  rowsOf: ({ series }: ListedSeries) => series,
  keyOf: ({ series }: ShownSeries) => series,
  everyMs: EVERY_MS,
};

/** Every series as a tile: searched, sorted, page by page. */
function SeriesList({ app, route }: Props<'app' | 'route'>): Shown {
  const { search = '', sort = 'grade', detector = '', by = '' } = route.query;
  const [typed, setTyped] = useTyped(search, (text) =>
    location.replace(routeTo('series', null, { ...route.query, search: text })),
  );
  const query: SeriesListQuery = {
    // Each key is a search. Half a matcher would be a mistake.
    ...searchedSeries(typed.startsWith('{') ? search : typed),
    detector,
    sort: sort === 'name' ? 'name' : 'grade',
    limit: PAGE_ROWS,
    recent: VALUES,
  };
  const key = JSON.stringify(query);
  const load = (cursor: string) => app.source.seriesList({ ...query, cursor });
  const paged = usePages(key, load, PAGING);
  const { value, failure, readMore } = paged;
  const earlier = useRef(paged);
  if (value !== null || failure !== null) earlier.current = paged;
  // Until the next list is there.
  const { value: listed, rows, next } = earlier.current;
  const names = useNames(rows.map(({ series }) => series));
  return html`<div class="page">
    <header class="page-head">
      <h1>Series</h1>
      <p class="aside">
      ${listed !== null && counted(listed.total, 'series', 'series')}${detector !== '' && ` of ${detector}`}
      </p>
      <form class="filters" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
        <label class="sr" for="search">Search series</label>
        <input id="search" type="search" placeholder="Search, or {job=…}" value=${typed} autocomplete="off"
          onInput=${(event: Event) => setTyped(typedIn(event))} />
        <${GroupChoice} all=${rows.map(labelledSeries)} by=${by} onBy=${(chosen: string) =>
          location.replace(routeTo('series', null, { ...route.query, by: chosen }))} />
        <label class="sr" for="sort">Order</label>
        <select id="sort" value=${sort} onChange=${(event: Event) =>
          location.replace(routeTo('series', null, { ...route.query, sort: typedIn(event) }))}>
          <option value="grade">Most unusual first</option><option value="name">By name</option>
        </select>
      </form>
    </header>
    ${failure !== null && html`<${Failure} text=${failure} />`}
    ${listed === null && failure === null && html`<${Loading} what="series" />`}
    ${value !== null && rows.length === 0 && html`<${NoSeries} search=${typed} />`}
    <${SharedName} names=${names} />
    ${groupsBy(rows, by, labelledSeries).map(
      (group) => html`<section key=${group.name} class="label-group">
        ${group.name !== null && html`<h2><${GroupName} group=${group} /></h2>`}
        <ul class="tiles">
          ${group.items.map((row) => html`<${SeriesTile} key=${row.series} row=${row} names=${names} />`)}</ul>
      </section>`,
    )}
    ${next !== null && html`<p class="more"><button type="button" onClick=${readMore}>More</button></p>`}
  </div>`;
}

function NoSeries({ search }: { readonly search: string }): Shown {
  if (search !== '') {
    return html`<${Empty} title=${`No series contains “${search}”`}>
      The search matches any part of the id. <a href=${routeTo('series')}>Show all series</a>
    <//>`;
  }
  return html`<${Empty} title="No series yet">
    Series appear with their first observation. <code>npm start -- feed FILE</code> writes a CSV file to the stream.
  <//>`;
}
