/** A confidence level in percent, with the digits it was written with. */
export interface WireLevel {
  readonly value: number;
  readonly text: string;
}
