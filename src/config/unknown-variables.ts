import type { Environment } from './given-options.ts';
import { nearestOf, notKnown } from './schema/problems.ts';

/** This prefix is ours alone: every variable that has it must be known. */
const OUR_PREFIX = 'TIDEWATCH_';
/** Kubernetes sets such variables in every container for a service of our name. */
const isServiceLink = (name: string, value: string | undefined) =>
  /_SERVICE_(HOST|PORT)|_PORT_\d+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(value ?? '');
/** A variable that differs from a known one by at most so many letters is a typing error. */
const SLIP_LETTERS_MAX = 2;

/** Variables of earlier releases, and what replaces them. */
const REMOVED: Readonly<Record<string, string>> = {
  HISTORY_URL: 'each serve keeps its own history in DATA_DIR and fills it from Kafka: unset it',
  HISTORY_URL_FILE: 'each serve keeps its own history in DATA_DIR and fills it from Kafka: unset it',
};

/** Problems of removed and misspelt variables. Kafka's tools share other prefixes: near misses alone are reported. */
export function unknownVariables(env: Environment, known: readonly string[]): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (known.includes(name) || isServiceLink(name, value)) return [];
    if (Object.hasOwn(REMOVED, name)) return [`${name} was removed: ${REMOVED[name]}`];
    if (name.startsWith(OUR_PREFIX)) {
      const meant = known.find((env) => env === name.slice(OUR_PREFIX.length));
      return [notKnown(name, 'variable', meant ?? nearestOf(name, known))];
    }
    const nearest = /^(KAFKA|SCHEMA_REGISTRY)_/.test(name) ? nearestOf(name, known, SLIP_LETTERS_MAX) : null;
    return nearest === null ? [] : [notKnown(name, 'variable', nearest)];
  });
}
