import type { Urgency } from '../../../records/urgency.ts';

/** Colours of a canvas, as the style sheet has them for the theme of the moment. */
export interface Palette {
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly forecast: string;
  readonly band: string;
  readonly spread: string;
  readonly event: string;
  readonly chosen: string;
  readonly alarm: string;
  readonly urgencies: Readonly<Record<Urgency, string>>;
}

/** A variable with light-dark() is only resolved where it is used as a colour. */
function resolved(probe: HTMLElement, name: string): string {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

export function readPalette(place: HTMLElement): Palette {
  const probe = document.createElement('i');
  place.append(probe);
  const colour = (name: string) => resolved(probe, name);
  const palette: Palette = {
    ink: colour('ink'),
    muted: colour('muted'),
    grid: colour('grid'),
    forecast: colour('accent'),
    band: colour('chart-band'),
    spread: colour('chart-spread'),
    event: colour('chart-event'),
    chosen: colour('chart-chosen'),
    alarm: colour('urgency-critical'),
    urgencies: {
      usual: colour('urgency-usual'),
      warning: colour('urgency-warning'),
      error: colour('urgency-error'),
      critical: colour('urgency-critical'),
    },
  };
  probe.remove();
  return palette;
}
