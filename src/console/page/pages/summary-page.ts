import { routeTo } from '../../view/route.ts';
import { isOfDetector } from '../../view/words/event-words.ts';
import { counted, zonedText } from '../../view/words/value-words.ts';
import { type Props, useLoaded } from '../element/hooks.ts';
import { Empty, Failure, html, Loading, type Shown } from '../element/html.ts';
import { SharedName, useNames } from '../element/series-name.ts';
import { EventTable } from './events/event-table.ts';
import { SeriesTile } from './series/series-tile.ts';

const EVENTS_MAX = 1_000;
const WORST = 10;
const TILES = 24;
const TILE_VALUES = 80;

/** The first page of a report: its worst events, then the most unusual series. */
export function SummaryPage({ app: { source } }: Props<'app'>): Shown {
  const { value, failure } = useLoaded('summary', async () => {
    const [{ events, total_open: open }, { series, total }] = await Promise.all([
      source.events({ limit: EVENTS_MAX }),
      source.seriesList({ sort: 'grade', limit: TILES, recent: TILE_VALUES }),
    ]);
    return { events, open, series, total };
  });
  const names = useNames((value?.series ?? []).map(({ series }) => series));
  if (value === null) {
    return failure === null ? html`<${Loading} what="the report" />` : html`<${Failure} text=${failure} />`;
  }
  const { events, open, series, total } = value;
  const worst = events.toSorted((a, b) => (b.severity ?? 0) - (a.severity ?? 0)).slice(0, WORST);
  const pauses = events.filter(isOfDetector).length;
  return html`<div class="page">
    <header class="page-head"><h1>${counted(events.length, 'event')} in ${counted(total, 'series', 'series')}</h1>
      <p class="aside">${open > 0 && `${counted(open, 'event')} open at the end. `}${
        pauses > 0 && `${counted(pauses, 'pause')} of a whole detector. `
      }The report ends at ${zonedText(source.nowMs())}.</p></header>
    ${
      events.length === 0
        ? html`<${Empty} title="No event">All scored series were as expected.<//>`
        : html`<section aria-label="Worst events"><h2>Worst events</h2>
          <${EventTable} events=${worst} nowMs=${source.nowMs()} query=${{ sort: '-severity' }} />
          <p class="aside"><a href=${routeTo('events')}>All ${counted(events.length, 'event')}</a></p></section>`
    }
    <section aria-label="Most unusual series"><h2>Most unusual series</h2><${SharedName} names=${names} />
      <ul class="tiles">${series.map(
        (row) => html`<${SeriesTile} key=${row.series} row=${row} names=${names} />`,
      )}</ul></section>
  </div>`;
}
