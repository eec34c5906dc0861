import { useMemo } from 'preact/hooks';
import { visibleId } from '../../../../records/series/listed-names.ts';
import { quantityTexts } from '../../../../records/text/quantity-text.ts';
import { routeTo } from '../../../view/route.ts';
import type { ShownScores, ShownSeries } from '../../../view/scores/shown-scores.ts';
import { hostOf, worstFirst } from '../../../view/words/event-words.ts';
import { type Console, type Props, useLoaded, useNow } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { CopyId, SharedName, useNames } from '../../element/series-name.ts';
import { useUnit } from '../../element/units.ts';
import { useSeriesHistory } from '../../source/series-history.ts';
import { EventDetail } from '../events/event-detail.ts';
import { SeriesChart } from './series-chart.ts';
import { SeriesEvents } from './series-events.ts';
import { SeriesTile } from './series-tile.ts';

const EVENTS_MAX = 200;
const EVENTS_EVERY_MS = 10_000;

interface OneSeriesProps {
  readonly app: Console;
  readonly series: string;
  /** The event that led here; null if there was none. */
  readonly eventId: string | null;
}

/** A series: what was observed, what was expected, and why it was flagged. */
export function OneSeries({ app, series, eventId }: OneSeriesProps): Shown {
  const { source } = app;
  const loadEvents = () => source.events({ series, limit: EVENTS_MAX });
  const {
    value: found,
    failure: noEvents,
    reload,
  } = useLoaded(series, loadEvents, source.kind === 'service' ? EVENTS_EVERY_MS : null);
  const events = useMemo(() => found?.events ?? [], [found]);
  const led = events.find((event) => event.eventId === eventId) ?? null;
  // The chart shows the event that is explained: in a report the worst one, on the live page an open one.
  const worst = () => worstFirst(events, 0)[0] ?? null;
  const focus = led ?? (source.kind === 'report' ? worst() : null);
  const chosen = focus ?? events.find(({ endedAtMs }) => endedAtMs === null) ?? null;
  const history = useSeriesHistory(source, { series, focus, ready: found !== null || noEvents !== null });
  const nowMs = useNow(source, 5_000);
  const { columns, about } = history;
  const chart = html`<${SeriesChart} source=${source} series=${series} history=${history} events=${events}
    chosen=${chosen?.eventId ?? null} nowMs=${nowMs} />`;
  if (about === null)
    return html`<div class="page"><h1>${visibleId(series)}<${CopyId} id=${series} /></h1>${chart}</div>`;
  return html`<div class="page series">
    <header class="page-head">
      <h1>${visibleId(series)}<${CopyId} id=${series} /></h1>
      <p class="aside">${about.detector}${about.group !== null && `, in group ${about.group}`}</p>
    </header>
    ${chart}
    <div class="columns">
      <section class="wide" aria-label="Why it was flagged">
        ${
          chosen === null
            ? html`<${NotFlagged} columns=${columns} detector=${about.detector} />`
            : html`<${EventDetail} app=${app} event=${chosen} nowMs=${nowMs} onChanged=${reload} />`
        }
      </section>
      <aside class="narrow">
        <${SeriesEvents} series=${series} events=${events}
    chosen=${chosen?.eventId ?? null} nowMs=${nowMs} />
        ${
          app.mayOperate &&
          html`<p><a href=${routeTo('detectors', about.detector, { match: about.group ?? series })}>
          Try other settings of its detector</a></p>`
        }
        <${Neighbours} app=${app} series=${series} group=${about.group} />
      </aside>
    </div>
  </div>`;
}

function NotFlagged({ columns, detector }: { readonly columns: ShownScores; readonly detector: string }): Shown {
  const unit = useUnit(detector);
  const [value, lo, hi] = [columns.value.at(-1) ?? null, columns.lo.at(-1) ?? null, columns.hi.at(-1) ?? null];
  const inside = value !== null && lo !== null && hi !== null && value >= lo && value <= hi;
  const [valueText, loText, hiText] = quantityTexts([value, lo, hi], unit);
  return html`<div class="panel"><h2>No event is open</h2>
    <p>${
      inside
        ? `The newest value, ${valueText}, is between ${loText} and ${hiText}, as expected.`
        : 'Earlier events are listed with their charts.'
    }</p></div>`;
}

const NEIGHBOURS_MAX = 8;
const VALUES = 60;
const EVERY_MS = 15_000;

/** The other series of the same group, or of the same host: what happened there at the same time. */
function Neighbours({ app, series, group }: Props<'app' | 'series'> & { readonly group: string | null }): Shown {
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
