import type { RuleProposals } from '../../../../sidecar/wire/schema/what-if-schema.ts';
import { kindName } from '../../../view/event-words.ts';
import { type Console, useAct, useLoaded } from '../../element/hooks.ts';
import { html, type Shown } from '../../element/html.ts';
import { Failure } from '../../element/page-states.ts';
import { getJson } from '../../source/service-calls.ts';
import { changesText, tryOnAll } from './what-if-result.ts';

const EVERY_MS = 30_000;

type Proposal = RuleProposals['proposals'][number];

/** Rules for what people said is not real. Each is tried on what is kept before anybody can save it. */
export function ProposedRules({ app, detector }: { readonly app: Console; readonly detector: string }): Shown | null {
  const { value } = useLoaded('proposals', () => getJson<RuleProposals>('/v1/detectors/proposals'), EVERY_MS);
  const { act, failure } = useAct();
  const own = (value?.proposals ?? []).filter((proposal) => proposal.detector === detector);
  if (own.length === 0) return null;
  const attempt = ({ changes }: Proposal) => act(() => tryOnAll(detector, { after: changes }));
  return html`<section class="panel" aria-label="Proposed by your answers"><h2>Proposed by your answers</h2>
    <ul class="proposals">${own.map((proposal) => {
      const { kind, verdicts, series, changes, why } = proposal;
      return html`<li><p><strong>${changesText(changes)}</strong>: ${verdicts} times “${kindName(kind)}”
        ${series === null ? '' : ` of ${series}`} was not real; ${why}.</p>
        ${
          app.mayOperate &&
          html`<button type="button" class="small" onClick=${() => attempt(proposal)}>Show what it removes</button>`
        }</li>`;
    })}</ul>
    ${failure !== null && html`<${Failure} text=${failure} />`}
  </section>`;
}
