import { identityOptions } from '../../src/config/options/identity-options.ts';
import type { Option } from '../../src/config/options/option.ts';
import {
  alertOptions,
  historyOptions,
  httpOptions,
  kafkaOptions,
  options,
  processOptions,
  prometheusOptions,
  receiveOptions,
  registryOptions,
  storeOptions,
  streamOptions,
  workerLimits,
  workerOptions,
} from '../../src/config/options/options.ts';
import { remoteWriteOptions, scoresOptions } from '../../src/config/options/prometheus-options.ts';
import { changeOptions, detectorsOptions, incidentOptions } from '../../src/config/options/topic-options.ts';
import { read } from '../tidy/project.ts';

const PAGE = 'deploy/book/settings.md';
const MARK = '<!-- From here on it is written by npm run generate -->';

type Options = Readonly<Record<string, Option<unknown> & { readonly fallback?: unknown }>>;

export const SUBJECTS: Readonly<Record<string, Options>> = {
  Kafka: { ...kafkaOptions, ...registryOptions },
  Stream: { ...streamOptions, ...detectorsOptions, ...changeOptions, ...incidentOptions, ...alertOptions },
  Prometheus: prometheusOptions,
  Worker: { ...workerLimits, groupInstanceId: workerOptions.groupInstanceId },
  'HTTP service': { ...httpOptions, ...receiveOptions },
  'Identity provider': identityOptions,
  'Store and history': { ...storeOptions, ...historyOptions },
  'Scores in Prometheus': { ...scoresOptions, ...remoteWriteOptions },
  Process: processOptions,
};

export const variables = new Set(Object.values(options).flatMap(({ env }) => env ?? []));
const quoted = (help: string) =>
  help.replaceAll(/[A-Z]+(?:_[A-Z]+)+/g, (name) => (variables.has(name) ? `\`${name}\`` : name));

const shownDefault = (fallback: unknown) => (fallback === undefined ? '' : `\`${fallback}\``);

function rowsOf(subject: Options): string[] {
  const all = Object.entries(subject);
  return all.flatMap(([key, { env, help, fallback, holds }]) => {
    if (holds !== undefined) return [];
    const file = all.find(([, option]) => option.holds === key)?.[1].env;
    const names = [env, ...(file === undefined ? [] : [file])].map((name) => `\`${name}\``).join(', ');
    return [`| ${names} | ${quoted(help)} | ${shownDefault(fallback)} |`];
  });
}

const anchorOf = (subject: string) => subject.toLowerCase().replaceAll(' ', '-');
const contents = Object.keys(SUBJECTS).map((subject) => `- [${subject}](#${anchorOf(subject)})`);
const tables = Object.entries(SUBJECTS).map(
  ([subject, of]) =>
    `## ${subject}\n\n| variable | meaning | default |\n| --- | --- | --- |\n${rowsOf(of).join('\n')}\n`,
);

/** The page of settings, from the options, as `--help` is. */
export function settingsPage(): string {
  const page = read(PAGE);
  return `${page.slice(0, page.indexOf(MARK))}${MARK}\n\n${contents.join('\n')}\n\n${tables.join('\n')}`;
}
