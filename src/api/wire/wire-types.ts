/** A number, with the literal of the client. */
export interface WireLiteral {
  readonly value: number;
  readonly text: string;
}

/** A confidence level in percent. */
export type WireLevel = WireLiteral;
