import { type DestinationStream, type LevelWithSilent, type Logger, pino, stdTimeFunctions } from 'pino';

export type { Logger } from 'pino';

/** Fields that are always redacted, at the top level and up to two levels below. */
const SECRETS = ['password', 'apiKey', 'token', 'secret', 'authorization', 'tls.key'];
/** Fields of observations, at the top level and one level below; redacted except at the levels debug and trace. */
const OBSERVED = ['value', 'values', 'observation'];

/**
 * JSON lines, to standard output by default. An error is logged as `{ err }`. Secrets are redacted; values of series
 * are, too, except at the levels debug and trace.
 */
export function createLogger(level: LevelWithSilent, destination?: DestinationStream): Logger {
  const secrets = SECRETS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);
  const observed = OBSERVED.flatMap((field) => [field, `*.${field}`]);
  const debugging = level === 'debug' || level === 'trace';
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: debugging ? secrets : [...secrets, ...observed], censor: '***' },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
