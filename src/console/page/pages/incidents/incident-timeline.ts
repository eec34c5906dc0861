import { useEffect, useState } from 'preact/hooks';
import type { EventAnswer } from '../../../../api/wire/schema/operations/event-schema.ts';
import type { IncidentDetailAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import type { ListedNames } from '../../../../records/series/listed-names.ts';
import { eventUrgency } from '../../../../records/urgency.ts';
import type { ConsoleSource } from '../../../view/console-source.ts';
import { withGaps } from '../../../view/scores/gaps.ts';
import { NO_SCORES, type ShownScores, type TimeRange } from '../../../view/scores/shown-scores.ts';
import { addressOf, farOutText, kindName, subjectName } from '../../../view/words/event-words.ts';
import { onsetText } from '../../../view/words/incident-words.ts';
import { timeText, zonedText } from '../../../view/words/value-words.ts';
import { inTurn, SparkDrawing } from '../../chart/event-sparkline.ts';
import type { Console, Props } from '../../element/hooks.ts';
import { classes, html, Icon, type Shown } from '../../element/html.ts';
import { Name, SharedName, useNames } from '../../element/series-name.ts';
import { review } from '../../source/service-calls.ts';

const WIDTH = 600;
const HEIGHT = 44;
const POINTS = 200;

interface AlignedChartProps {
  readonly source: ConsoleSource;
  readonly series: string;
  /** Width of the drawing, the same in a column. */
  readonly range: TimeRange;
  readonly startedAt?: number;
  readonly endedAt?: number | null;
  readonly marks?: readonly number[];
}

function AlignedChart({ source, series, range, startedAt, endedAt, marks }: AlignedChartProps): Shown {
  const [columns, setColumns] = useState<ShownScores>(NO_SCORES);
  const [from, to] = [Math.round(range.from), Math.round(range.to)];
  useEffect(() => {
    let gone = false;
    void inTurn(async () => {
      if (gone) return;
      const found = await source.scores(series, { from, to, points: POINTS });
      if (!gone) setColumns(withGaps(found));
    });
    return () => {
      gone = true;
    };
  }, [source, series, from, to]);
  return html`<${SparkDrawing} columns=${columns} range=${{ from, to }} width=${WIDTH} height=${HEIGHT}
    startedAt=${startedAt} endedAt=${endedAt} marks=${marks} />`;
}

const ROWS = 20;
const MARKS = [0, 0.25, 0.5, 0.75, 1];
/** Time shown before the start and after the end, in lengths of the incident. */
const LEAD = 0.75;
const LEAD_MS_MIN = 600_000;
/** The end of what is shown moves on in steps, so that charts are read again only now and then. */
const STEP_MS = 30_000;

/** Its events by their onsets, each with its series over the same time. */
export function IncidentTimeline(
  props: Props<'app' | 'incident' | 'events' | 'changes' | 'nowMs' | 'onChanged'>,
): Shown {
  const { app, incident, events, changes, nowMs, onChanged } = props;
  const marks = changes.map(({ time }) => time);
  const [rows, setRows] = useState(ROWS);
  const { startedAtMs, endedAtMs } = incident;
  const end = endedAtMs ?? Math.ceil(Math.max(nowMs, incident.updatedAtMs) / STEP_MS) * STEP_MS;
  const lead = Math.max(LEAD_MS_MIN, (end - startedAtMs) * LEAD);
  const range = { from: startedAtMs - lead, to: endedAtMs === null ? end : end + lead };
  const shown = incident.events.slice(0, rows);
  const names = useNames(shown.map(subjectName));
  const byId = new Map(events.map((event) => [event.eventId, event]));
  return html`<section class="panel" aria-label="Its events by their onsets"><h2>Its events by their onsets</h2>
    <${SharedName} names=${names} />
    <ol class="onsets">
      ${shown.map(
        (named) => html`<${Onset} key=${named.eventId} app=${app} incident=${incident} named=${named}
          names=${names} event=${byId.get(named.eventId) ?? null} range=${range} marks=${marks}
          onChanged=${onChanged} />`,
      )}
      <li class="onset axis" aria-hidden="true"><span /><span /><span class="track">${MARKS.map(
        (share) => html`<time style=${{ left: `${share * 100}%` }}>
          ${timeText(range.from + share * (range.to - range.from), nowMs)}</time>`,
      )}</span><span /></li>
    </ol>
    ${
      incident.events.length > rows &&
      html`<p class="more"><button type="button" onClick=${() => setRows(rows + ROWS)}>
        ${Math.min(ROWS, incident.events.length - rows)} more of ${incident.eventCount}</button></p>`
    }
  </section>`;
}

interface OnsetProps {
  readonly app: Console;
  readonly incident: IncidentDetailAnswer;
  readonly named: IncidentDetailAnswer['events'][number];
  readonly names: ListedNames;
  /** null if the history has it no more, or not yet. */
  readonly event: EventAnswer | null;
  readonly range: { readonly from: number; readonly to: number };
  readonly marks: readonly number[];
  readonly onChanged: () => void;
}

function Onset({ app, incident, named, names, event, range, marks, onChanged }: OnsetProps): Shown {
  const { eventId, kind, startedAtMs } = named;
  const series = named.series ?? event?.members[0]?.series ?? null;
  const given = incident.verdicts.some(({ verdict, subject }) => verdict === 'not-related' && subject === eventId);
  const judge = async () => {
    const verdict = { verdict: 'not-related', subject: eventId, given: !given };
    await review('incidents', incident.incidentId, 'verdict', verdict);
    onChanged();
  };
  const name = subjectName(named);
  return html`<li class=${classes('onset', event !== null && `urgency-${eventUrgency(event)}`, given && 'quiet')}>
    <span class="figure" title=${zonedText(startedAtMs)}>
      ${onsetText(startedAtMs - incident.startedAtMs)}</span>
    <a class="what" href=${addressOf(named)}><${Name} id=${name} names=${names} />
      <span class="of"><${Icon} name=${kind} /> ${kindName(kind)}${
        event !== null && `, ${farOutText(event)}`
      }</span></a>
    ${
      series === null
        ? html`<span />`
        : html`<${AlignedChart} source=${app.source} series=${series} range=${range} marks=${marks}
          startedAt=${startedAtMs}
          endedAt=${event?.endedAtMs ?? null} />`
    }
    ${
      app.mayOperate
        ? html`<button type="button" class="small text" aria-pressed=${given} onClick=${judge}
          title="Not part of this incident">Not related<span class="sr">: ${names.of(name)}</span></button>`
        : html`<span class="mark">${given && 'not related'}</span>`
    }
  </li>`;
}
