import { useEffect, useRef, useState } from 'preact/hooks';
import { useStored } from './element/hooks.ts';
import { html, type Shown } from './element/html.ts';

const STEPS: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: 'Now: what is wrong, worst first',
    text:
      'Every line is an open incident, or an event by itself: what it is, where, and since when. The list changes by ' +
      'itself. A check mark tells the others that you look after it.',
  },
  {
    title: 'An event: why it was raised',
    text:
      'Follow a line to its event. The shaded band is what was expected, the red stretch is the event, the bars ' +
      'below are the grade. Drag to zoom. Say whether it was real: three times no, and the page of its detector ' +
      'proposes a rule, with what it would have removed.',
  },
  {
    title: 'Detectors: what if',
    text:
      'Change how many false alarms a week you accept, and see which events there would have been, before you ' +
      'save. Keys: g and the first letter of a page goes there, / goes to its search.',
  },
];

/** Three steps on the first visit, never again. */
export function Tour(): Shown {
  const [seen, setSeen] = useStored('tour', 'new');
  const [step, setStep] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (seen === 'new') dialog.current?.showModal();
  }, []);
  if (seen !== 'new') return null;
  const isLast = step === STEPS.length - 1;
  const finish = () => {
    dialog.current?.close();
    setSeen('seen');
  };
  return html`<dialog ref=${dialog} class="tour" aria-labelledby="tour-title" onClose=${finish}>
    <p class="aside">${step + 1} of ${STEPS.length}</p>
    <h2 id="tour-title">${STEPS[step].title}</h2>
    <p>${STEPS[step].text}</p>
    <div class="buttons">
      <button type="button" class="plain" onClick=${finish}>Skip</button>
      <button type="button" class="primary" autofocus onClick=${isLast ? finish : () => setStep(step + 1)}>
      ${isLast ? 'Start' : 'Next'}</button>
    </div>
  </dialog>`;
}
