export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** For so long a broker that was given up is the last to be connected to, and is given up sooner. */
const DOUBTFUL_MS = 60_000;
/** For so long connections to it are refused at once: callers that queue for one would each wait in turn. */
const REFUSED_MS = 3_000;

/** Times at which brokers were given up, by address. All connections of the process share it. */
const doubted = new Map<string, number>();
const refused = new Map<string, number>();

/** As in the configuration. */
export function nameOf({ host, port }: BrokerAddress): string {
  return `${host}:${port}`;
}

export function addressNamed(name: string): BrokerAddress {
  const at = name.lastIndexOf(':');
  return { host: name.slice(0, at), port: Number(name.slice(at + 1)) };
}

function since(times: ReadonlyMap<string, number>, name: string, nowMs: number): number {
  return nowMs - (times.get(name) ?? Number.NEGATIVE_INFINITY);
}

/** It does not answer. */
export function doubt(broker: BrokerAddress, nowMs: number): void {
  doubted.set(nameOf(broker), nowMs);
}

/** It does not answer, and another broker reports it gone. */
export function giveUp(broker: BrokerAddress, nowMs: number): void {
  doubt(broker, nowMs);
  refused.set(nameOf(broker), nowMs);
}

export function isDoubtful(broker: BrokerAddress, nowMs: number): boolean {
  return since(doubted, nameOf(broker), nowMs) < DOUBTFUL_MS;
}

/** True if it was given up just now. */
export function isRefused(broker: BrokerAddress, nowMs: number): boolean {
  return since(refused, nameOf(broker), nowMs) < REFUSED_MS;
}

/** Brokers that were given up recently come last. */
export function likelyAliveFirst(brokers: readonly string[], nowMs: number): string[] {
  const isDoubted = (name: string) => since(doubted, name, nowMs) < DOUBTFUL_MS;
  return [...brokers.filter((name) => !isDoubted(name)), ...brokers.filter(isDoubted)];
}
