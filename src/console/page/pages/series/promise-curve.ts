import { useState } from 'preact/hooks';
import type { PromisesAnswer } from '../../../../sidecar/wire/schema/what-if-schema.ts';
import { kindName } from '../../../view/event-words.ts';
import { counted, numberText } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import { timeText } from '../../../view/time-words.ts';
import { type Console, useAct } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { postJson } from '../../source/service-calls.ts';

/** Values that are scored again for it. */
const SPAN_MS = 14 * 86_400_000;

interface PromiseCurveProps {
  readonly app: Console;
  readonly series: string;
}

/** Which events the series has by which promise: `2 a week: these 5 events; 1 a week: these 3`. */
export function PromiseCurve({ app, series }: PromiseCurveProps): Shown | null {
  const [curve, setCurve] = useState<PromisesAnswer | null>(null);
  const { act, failure, busy } = useAct();
  if (!app.mayOperate) return null;
  const nowMs = app.source.nowMs();
  const compare = () =>
    act(async () => {
      setCurve(await postJson<PromisesAnswer>('/v1/what-if/promises', { series, from: Math.round(nowMs - SPAN_MS) }));
    });
  return html`<section class="panel" aria-label="What each promise shows"><h2>What each promise shows</h2>
    ${
      curve === null
        ? html`<p class="aside">Which events of the last two weeks there are, by how many false alarms a week the
        detector promises.</p>
        <button type="button" class="small" disabled=${busy} onClick=${compare}>${
          busy ? 'Scoring again …' : 'Compare promises'
        }</button>`
        : html`<${Promises} curve=${curve} nowMs=${nowMs} />`
    }
    ${failure !== null && html`<${Failure} text=${failure} />`}
  </section>`;
}

function Promises({ curve, nowMs }: { readonly curve: PromisesAnswer; readonly nowMs: number }): Shown {
  const { detector, promises, promised_per_week: promised } = curve;
  return html`<dl class="promises">${promises.map(({ false_alarms: rate, per_week: perWeek, events }) => {
    const isNow = promised !== null && Math.abs(perWeek - promised) < 0.01;
    const weekly = `(${numberText(perWeek)} a week${isNow ? ', as now' : ''})`;
    return html`<div><dt>${rate} <span class="aside">${weekly}</span></dt>
      <dd>${counted(events.length, 'event')}${events.length > 0 && ':'}
        <ul class="event-list">${events.map(
          ({ kind, startedAtMs, summary, real }) =>
            html`<li title=${summary}><span>${kindName(kind)}${
              real === null ? '' : real ? ', real' : ', not real'
            }</span><time>${timeText(startedAtMs, nowMs)}</time></li>`,
        )}</ul></dd></div>`;
  })}</dl>
    <p><a href=${routeTo('detectors', detector)}>Try another promise on all series of ${detector}</a></p>`;
}
