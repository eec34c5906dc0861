import { isIP } from 'node:net';
import { textMatching, textOf, topicName } from '../../config/schema/kinds.ts';
import type { MappingPlace, SecretSource } from '../../config/schema/place.ts';
import { nearestOf } from '../../config/schema/problems.ts';
import { readSettings, type SettingsFile } from '../../config/schema/read-settings.ts';
import { listOf, oneOrMore, optional, required, section } from '../../config/schema/schema.ts';
import { urlHost } from '../network/guarded-lookup.ts';
import { isPublicAddress } from '../network/public-address.ts';
import type { AlertRoute, MuteWindow, Routes } from './alert-route.ts';
import { type ReadReceiver, receiver } from './receiver-schema.ts';
import { muteWindow, route } from './route-schema.ts';

const hostToAllow = textMatching('a host name or address, as written in a receiver', /^[a-zA-Z0-9._:-]+$/);

const consoleAddress = textOf(
  'the http or https URL of the console, such as https://tidewatch.example.com/console',
  (url) => {
    const parsed = URL.canParse(url) ? new URL(url) : null;
    const fits = parsed !== null && /^https?:$/.test(parsed.protocol) && parsed.hash === '' && !/[<>|\s]/.test(url);
    return fits ? url : undefined;
  },
);

/** A routes file: which events go to which receivers, and when. */
export const routesSchema = section(
  {
    stateTopic: optional(
      topicName,
      'Compacted topic of open alerts and undelivered messages. Default: KAFKA_GROUP_ID with -alerts.',
    ),
    consoleUrl: optional(consoleAddress, 'Address of the console: messages link to the pages of their events.'),
    allowPrivate: optional(
      oneOrMore(hostToAllow),
      'Hosts that may have private, loopback or link-local addresses, as written in the receivers.',
    ),
    receivers: required(listOf(receiver, { named: true }), 'Channels to people, or to other alerting systems.'),
    muteWindows: optional(listOf(muteWindow, { named: true }), 'Hours in which a route sends nothing new.'),
    routes: required(
      listOf(route, { named: true }),
      'The first route that matches takes an event, unless it continues.',
    ),
  },
  ({ stateTopic, consoleUrl, allowPrivate, receivers = [], muteWindows = [], routes = [] }, place): Routes => {
    const allowed = new Set(allowPrivate?.map((host) => host.toLowerCase()));
    for (const read of receivers) refusePrivate(read, allowed);
    // Also those with problems: that their routes name them is none.
    const known = { receivers: place.namesOf('receivers'), windows: muteWindows };
    return {
      stateTopic: stateTopic ?? null,
      allowPrivate: allowed,
      receivers: receivers.map(({ receiver }) => {
        return { ...receiver, wording: { ...receiver.wording, consoleUrl: consoleUrl ?? null } };
      }),
      routes: named(routes).flatMap((read) => routeOf(read, known) ?? []),
    };
  },
);

/**
 * Reads a routes file; null when a problem makes it unusable. Adds every problem to `problems`, each with the key that
 * is wrong. Secrets are in none of them.
 */
export function readRoutesFile(file: SettingsFile, secrets: SecretSource, problems: string[]): Routes | null {
  const before = problems.length;
  const routes = readSettings({ ...file, secrets }, routesSchema, problems);
  return routes === undefined || problems.length > before ? null : routes;
}

/** A route without a name is called by its receivers. Its alerts are kept by that name, so that it must be unique. */
function named(routes: readonly ReadRoute[]): readonly ReadRoute[] {
  const names = new Set(routes.flatMap(({ name }) => name ?? []));
  return routes.map((route) => {
    const name = route.name ?? route.receivers?.join('-');
    if (route.name !== undefined || name === undefined) return route;
    if (names.has(name)) route.place.problem('name', `set, as another route is called ${name}`, undefined);
    names.add(name);
    return { ...route, name };
  });
}

/** An address in the settings is known to be private now; a name is checked whenever it is resolved. */
function refusePrivate({ receiver: { target }, place }: ReadReceiver, allowPrivate: ReadonlySet<string>): void {
  const host = target.kind === 'email' ? target.host : urlHost(new URL(target.url));
  if (isIP(host) === 0 || allowPrivate.has(host) || isPublicAddress(host)) return;
  place.problem(
    target.kind,
    'a receiver with a public address, or one that allow_private at the top of the file lists',
    host,
  );
}

type ReadRoute = NonNullable<ReturnType<typeof route.read>>;

function routeOf(
  { name, receivers = [], groupBy, ageLimitMs, mute = [], escalate: _, place, ...route }: ReadRoute,
  known: { readonly receivers: readonly string[]; readonly windows: readonly MuteWindow[] },
): AlertRoute | null {
  reportUnknown(place, 'receivers', { names: receivers, known: known.receivers });
  reportUnknown(place, 'mute', { names: mute, known: known.windows.map((window) => window.name), of: 'mute_windows' });
  if (name === undefined) return null;
  return {
    ...route,
    name,
    receivers: [...new Set(receivers)],
    groupBy: groupBy ?? null,
    ageLimitMs: ageLimitMs ?? null,
    mute: mute.flatMap((name) => known.windows.find((window) => window.name === name) ?? []),
  };
}

function reportUnknown(
  place: MappingPlace,
  key: string,
  {
    names,
    known,
    of = key,
  }: { readonly names: readonly string[]; readonly known: readonly string[]; readonly of?: string },
): void {
  for (const name of names.filter((name) => !known.includes(name))) {
    const nearest = nearestOf(name, known);
    place.problem(key, `names of ${of} of this file`, name, nearest === null ? null : `did you mean ${nearest}?`);
  }
}
