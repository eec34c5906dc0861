import { URGENCIES, type Urgency } from '../../../records/urgency.ts';

/** Variables of the style sheet, by what a canvas draws with them. */
const VARIABLES = {
  ink: 'ink',
  muted: 'muted',
  grid: 'grid',
  forecast: 'accent',
  band: 'chart-band',
  spread: 'chart-spread',
  event: 'chart-event',
  chosen: 'chart-chosen',
  alarm: 'urgency-critical',
} as const;

/** Colours of a canvas, as the style sheet has them for the theme of the moment. */
export type Palette = Readonly<Record<keyof typeof VARIABLES, string>> & {
  readonly urgencies: Readonly<Record<Urgency, string>>;
};

export function readPalette(place: HTMLElement): Palette {
  const probe = document.createElement('i');
  place.append(probe);
  const colour = (variable: string) => {
    // A variable with light-dark() is only resolved where it is used as a colour.
    probe.style.color = `var(--${variable})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.entries(VARIABLES).map(([use, variable]) => [use, colour(variable)]);
  const urgencies = URGENCIES.map((urgency) => [urgency, colour(`urgency-${urgency}`)]);
  probe.remove();
  return { ...Object.fromEntries(colours), urgencies: Object.fromEntries(urgencies) };
}
