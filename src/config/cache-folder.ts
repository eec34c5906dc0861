import { homedir } from 'node:os';
import { join } from 'node:path';

/** Cache between runs: the jars of a local Kafka, the tools of pretraining. */
export function cacheFolder(): string {
  const { XDG_CACHE_HOME } = process.env;
  return join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'tidewatch');
}
