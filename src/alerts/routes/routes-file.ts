import { isIP } from 'node:net';
import { boolean, durationMs, type Kind, text, textMatching, textOf } from '../../config/kinds.ts';
import type { SecretSource } from '../../config/secret-reference.ts';
import { parseYaml, type Section } from '../../config/yaml-section.ts';
import { urlHost } from '../network/guarded-lookup.ts';
import { isPublicAddress } from '../network/public-address.ts';
import type {
  AlertRoute,
  EscalationStep,
  MuteWindow,
  ReceiverSettings,
  ReceiverTarget,
  Routes,
} from './alert-route.ts';
import { isGroupField } from './match-event.ts';
import { readMatch } from './match-section.ts';
import { readMuteWindow } from './mute-section.ts';
import { entryName, readReceiver } from './receiver-section.ts';

const GROUP_WAIT_MS = 30_000;

const topic = textMatching('a topic name', /^(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}$/);
const hostToAllow = textMatching('a host name or address, as it stands in a receiver', /^[a-zA-Z0-9._:-]+$/);
const groupName = textOf('detector, kind, direction, group or labels.NAME', (name) => {
  return isGroupField(name) ? name : undefined;
});

const consoleAddress = textOf(
  'the http or https URL of the console, such as https://tidewatch.example.com/console',
  (url) => {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    return parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hash === '' && !/[<>|\s]/.test(url)
      ? url
      : undefined;
  },
);
const anyName: Kind<string> = { expected: 'a name', fromText: String, fromValue: String };

/** A section with the name under which others refer to it. */
interface NamedSection<T> {
  readonly section: Section;
  readonly entry: T;
}

/**
 * Reads a routes file; null when a problem makes it unusable. Adds every problem to `problems`, each with the key that
 * is wrong. Secrets are in none of them.
 */
export function readRoutesFile(
  { name, content }: { readonly name: string; readonly content: string },
  secrets: SecretSource,
  problems: string[],
): Routes | null {
  const before = problems.length;
  const file = parseYaml(name, content, problems);
  if (file === null) return null;
  const stateTopic = file.read('state_topic', topic) ?? null;
  const allowed = file.readList('allow_private', hostToAllow) ?? [];
  const allowPrivate = new Set(allowed.map((host) => host.toLowerCase()));
  const consoleUrl = file.read('console_url', consoleAddress) ?? null;
  const receiverSections = file.sections('receivers');
  const receivers = readNamed(receiverSections, (section) => readReceiver(section, secrets, consoleUrl));
  for (const { section, entry } of receivers) refusePrivate(section, entry, allowPrivate);
  const windows = file.has('mute_windows') ? readNamed(file.sections('mute_windows'), readMuteWindow) : [];
  const known = {
    // Also of those with problems: that their routes name them is none.
    receivers: receiverSections.flatMap((section) => section.read('name', anyName) ?? []),
    windows: windows.map(({ entry }) => entry),
  };
  const routes = readNamed(file.sections('routes'), (section) => readRoute(section, known));
  file.close();
  if (problems.length > before) return null;
  const entries = { routes: routes.map(({ entry }) => entry), receivers: receivers.map(({ entry }) => entry) };
  return { stateTopic, allowPrivate, ...entries };
}

/** Reads entries whose names must differ. */
function readNamed<T extends { readonly name: string }>(
  sections: readonly Section[],
  read: (section: Section) => T | null,
): NamedSection<T>[] {
  const named: NamedSection<T>[] = [];
  for (const section of sections) {
    const entry = read(section);
    if (entry === null) continue;
    if (named.some(({ entry: { name } }) => name === entry.name)) {
      section.problem('name', 'a name of its own', entry.name);
    }
    named.push({ section, entry });
  }
  return named;
}

/** An address in the settings is known to be private now; a name is checked whenever it is resolved. */
function refusePrivate(section: Section, { target }: ReceiverSettings, allowPrivate: ReadonlySet<string>): void {
  const host = targetHost(target);
  if (isIP(host) === 0 || allowPrivate.has(host) || isPublicAddress(host)) return;
  section.problem(target.kind, 'a receiver with a public address, or one that allow_private names', host);
}

function targetHost(target: ReceiverTarget): string {
  return target.kind === 'email' ? target.host : urlHost(new URL(target.url));
}

interface KnownNames {
  readonly receivers: readonly string[];
  readonly windows: readonly MuteWindow[];
}

function readRoute(section: Section, known: KnownNames): AlertRoute | null {
  const name = section.read('name', entryName, 'required');
  const route = {
    match: readMatch(section.section('match')),
    receivers: readReceivers(section, known),
    continues: section.read('continue', boolean) ?? false,
    updates: section.read('updates', boolean) ?? false,
    groupBy: section.readList('group_by', groupName) ?? null,
    groupWaitMs: section.read('group_wait', durationMs) ?? GROUP_WAIT_MS,
    coolDownMs: section.read('cool_down', durationMs) ?? 0,
    ageLimitMs: section.read('age_limit', durationMs) ?? null,
    mute: readMutes(section, known.windows),
    escalation: section.has('escalate') ? readEscalation(section.sections('escalate'), known) : [],
  };
  if (section.has('group_wait') && route.groupBy === null)
    section.problem('group_by', 'set, as group_wait is', undefined);
  section.close();
  return name === undefined ? null : { name, ...route };
}

function readReceivers(section: Section, { receivers }: KnownNames): readonly string[] {
  const names = section.readList('receivers', text, 'required') ?? [];
  const unknown = names.filter((name) => !receivers.includes(name));
  for (const name of unknown) section.problem('receivers', 'names of receivers of this file', name);
  return [...new Set(names)];
}

function readMutes(section: Section, windows: readonly MuteWindow[]): readonly MuteWindow[] {
  const names = section.readList('mute', text) ?? [];
  return names.flatMap((name) => {
    const window = windows.find((known) => known.name === name);
    if (window === undefined) section.problem('mute', 'names of mute_windows of this file', name);
    return window ?? [];
  });
}

function readEscalation(sections: readonly Section[], known: KnownNames): readonly EscalationStep[] {
  const steps: EscalationStep[] = [];
  for (const section of sections) {
    const afterMs = section.read('after', durationMs, 'required');
    const receivers = readReceivers(section, known);
    section.close();
    if (afterMs === undefined) continue;
    const lastMs = steps.at(-1)?.afterMs ?? 0;
    if (afterMs <= lastMs) section.problem('after', 'longer than the step before', `${afterMs / 1_000}s`);
    steps.push({ afterMs, receivers });
  }
  return steps;
}
