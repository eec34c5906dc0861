/** A confidence level in percent, with the literal of the client. */
export interface WireLevel {
  readonly value: number;
  readonly text: string;
}
