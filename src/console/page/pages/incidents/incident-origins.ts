import type { IncidentDetailAnswer } from '../../../../api/wire/schema/operations/incident-schema.ts';
import { isOriginKnown } from '../../../../records/incident.ts';
import { routeTo } from '../../../view/route.ts';
import { originName } from '../../../view/words/incident-words.ts';
import { counted } from '../../../view/words/number-words.ts';
import type { Console } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Icon } from '../../element/icons.ts';
import { CopyId, Name, SharedName, useNames } from '../../element/series-name.ts';
import { review } from '../../source/service-calls.ts';

interface IncidentOriginsProps {
  readonly app: Console;
  readonly incident: IncidentDetailAnswer;
  readonly onChanged: () => void;
}

/** Candidates with their evidence. Their scores are not shown: see the README of src/incidents. */
export function IncidentOrigins({ app, incident, onChanged }: IncidentOriginsProps): Shown {
  const { incidentId, origins, openedOrigins, verdicts, confirmed } = incident;
  // Of candidates without evidence only the first is listed.
  const shown = origins.filter(({ score }, rank) => rank === 0 || score > 0);
  const names = useNames(shown.map(originName));
  const listed = (each: IncidentDetailAnswer['origins']) =>
    each.map((origin) => names.of(originName(origin))).join('; ');
  const earlier = listed(openedOrigins) === listed(shown) ? null : listed(openedOrigins);
  if (shown.length === 0) return null;
  return html`<section class="panel" aria-label="Likely origins"><h2>Likely origins</h2>
    <${SharedName} names=${names} />
    ${!isOriginKnown(origins) && html`<p class="aside">Origin unknown: no candidate is clearly ahead.</p>`}
    <ol class="origins">${shown.map((origin) => {
      const name = originName(origin);
      const given = verdicts.find(({ verdict, subject }) => verdict === 'origin' && subject === name);
      const before = confirmed.find(({ subject }) => subject === name)?.incidents ?? 0;
      const judge = async () => {
        const body = { verdict: 'origin', subject: name, given: given === undefined };
        await review('incidents', incidentId, 'verdict', body);
        onChanged();
      };
      return html`<li key=${name}>
        <p class="origin"><span><a href=${routeTo('series', origin.series)}><${Name} id=${name} names=${names} /></a>
          <${CopyId} id=${name} names=${names} /></span>
          ${
            app.mayOperate
              ? html`<button type="button" class="small text" aria-pressed=${given !== undefined} onClick=${judge}>
                <${Icon} name="check" />Confirm root cause<span class="sr">: ${names.of(name)}</span></button>`
              : given !== undefined && html`<span class="mark">root cause, confirmed by ${given.by}</span>`
          }</p>
        <p class="aside">${origin.evidence.length === 0 ? 'No evidence.' : `${origin.evidence.join('; ')}.`}${
          before > 0 && ` Confirmed root cause of ${counted(before, 'incident')}.`
        }</p>
      </li>`;
    })}</ol>
    <p class="aside">${earlier !== null && `When it was opened: ${earlier}. `}The ranking suggests where to look first;
      it does not prove a cause.</p>
  </section>`;
}
