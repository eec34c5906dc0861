import type { IncidentDetailAnswer } from '../../../../api/wire/schema/incident-schema.ts';
import { isOriginKnown } from '../../../../records/incident.ts';
import { originName } from '../../../view/incident-words.ts';
import { counted } from '../../../view/number-words.ts';
import { routeTo } from '../../../view/route.ts';
import type { Console } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';

interface IncidentOriginsProps {
  readonly app: Console;
  readonly incident: IncidentDetailAnswer;
  readonly onChanged: () => void;
}

/** Candidates for where it began, with the evidence. Their scores are not shown: see the README of src/incidents. */
export function IncidentOrigins({ app, incident, onChanged }: IncidentOriginsProps): Shown {
  const { incidentId, origins, openedOrigins, rankedBy, verdicts, confirmed } = incident;
  // Of candidates that have no evidence at all, only one says so.
  const shown = origins.filter(({ score }, rank) => rank === 0 || score > 0);
  if (shown.length === 0) return null;
  const names = (each: IncidentDetailAnswer['origins']) => each.map(originName).join(', ');
  const earlier = names(openedOrigins) === names(shown) ? null : names(openedOrigins);
  return html`<section class="panel" aria-label="Where it may have begun"><h2>Where it may have begun</h2>
    ${!isOriginKnown(origins) && html`<p class="aside">Origin unknown: none of these candidates stands out.</p>`}
    <ol class="origins">${shown.map((origin) => {
      const name = originName(origin);
      const given = verdicts.find(({ verdict, subject }) => verdict === 'origin' && subject === name);
      const before = confirmed.find(({ subject }) => subject === name)?.incidents ?? 0;
      const judge = async () => {
        await app.source.judge(incidentId, { verdict: 'origin', subject: name, given: given === undefined });
        onChanged();
      };
      return html`<li key=${name}>
        <p class="origin"><a class="name" href=${routeTo('series', origin.series)} title=${origin.series}>${name}</a>
          ${
            app.mayOperate
              ? html`<button type="button" class="small text" aria-pressed=${given !== undefined} onClick=${judge}>
                <${Icon} name="check" />This was it<span class="sr">: ${name}</span></button>`
              : given !== undefined && html`<span class="mark">it was, says ${given.by}</span>`
          }</p>
        <p class="aside">${origin.evidence.length === 0 ? 'No evidence.' : `${origin.evidence.join('; ')}.`}${
          before > 0 && ` People say so of ${counted(before, 'incident')}.`
        }</p>
      </li>`;
    })}</ol>
    <p class="aside">${rankedBy === 'events' ? 'Ranked by its events alone.' : 'Ranked by the scores of all series.'}${
      earlier !== null && ` When it was opened: ${earlier}.`
    } It says where to look first, not what the cause is.</p>
  </section>`;
}
