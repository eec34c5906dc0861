import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { ConfigResult, LoadedConfig } from './config.ts';
import { type ConfigSources, loadConfig } from './load.ts';

/** Reads the configuration of this process: its environment, its files, its processors. The only place that touches `process.env`. */
export function loadProcessConfig(
  flags: ConfigSources['flags'],
  requires: ConfigSources['requires'],
): ConfigResult<LoadedConfig> {
  return loadConfig({
    flags,
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    processors: availableParallelism(),
    requires,
  });
}
