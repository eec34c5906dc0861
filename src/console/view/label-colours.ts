/** Colours of values beside each other, `--label-1` and on in the style sheet. Further values begin anew. */
export const LABEL_COLOURS = 8;

/** The class of the colour of a number. */
export function labelColour(number: number): string {
  return `label-${(number % LABEL_COLOURS) + 1}`;
}
