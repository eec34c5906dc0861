import type { Route } from '../../../view/route.ts';
import type { Console } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { OneSeries } from './one-series.ts';
import { SeriesList } from './series-list.ts';

/** All series, or the one of the address. */
export function SeriesPage({ app, route }: { readonly app: Console; readonly route: Route }): Shown {
  const { subject } = route;
  if (subject === null) return html`<${SeriesList} app=${app} route=${route} />`;
  return html`<${OneSeries} key=${subject} app=${app} series=${subject} eventId=${route.query.event ?? null} />`;
}
