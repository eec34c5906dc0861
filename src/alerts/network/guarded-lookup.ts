import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** Finds the addresses of a host. Tests replace it. */
type Resolve = (
  host: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

const systemResolve: Resolve = (host, callback) => lookup(host, { all: true, verbatim: true }, callback);

export interface AddressGuard {
  /** Hosts that may have private addresses. */
  readonly allowPrivate: ReadonlySet<string>;
  readonly resolve?: Resolve;
}

/** A receiver leads to an address that is not of the public internet, and is not allowed by its name. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** The host of a URL as people write it: without the brackets of IPv6. */
export function urlHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/**
 * A lookup for sockets that fails with AddressRefused unless every address is allowed. The socket connects to what was
 * checked: a name that is resolved again, to another address, is checked again. Sockets do not look up addresses:
 * `refusedAddress` checks those.
 */
export function guardedLookup(guard: AddressGuard): LookupFunction {
  return (host, options, callback) => {
    const wanted = options as { readonly all?: boolean; readonly family?: number | string };
    resolveAllowed(guard, host, (error, addresses) => {
      const family = { 4: 4, 6: 6, IPv4: 4, IPv6: 6 }[wanted.family ?? 0] ?? 0;
      const found = addresses.filter((address) => family === 0 || address.family === family);
      const failure = error ?? (found.length === 0 ? noAddress(host) : null);
      if (failure !== null) callback(failure, '', 0);
      else if (wanted.all) callback(null, [...found]);
      else callback(null, found[0].address, found[0].family);
    });
  };
}

/** Why a host that is an address must not be reached; null for an allowed one, and for a name. */
export function refusedAddress({ allowPrivate }: AddressGuard, host: string): AddressRefused | null {
  return isIP(host) === 0 || allowPrivate.has(host) || isPublicAddress(host) ? null : refusal(host, host);
}

/** One allowed address of a host, for clients that take no lookup. */
export function resolveGuarded(guard: AddressGuard, host: string): Promise<string> {
  const refused = refusedAddress(guard, host);
  if (refused !== null) return Promise.reject(refused);
  if (isIP(host) !== 0) return Promise.resolve(host);
  return new Promise((resolve, reject) => {
    resolveAllowed(guard, host, (error, addresses) => {
      const failure = error ?? (addresses.length === 0 ? noAddress(host) : null);
      if (failure === null) resolve(addresses[0].address);
      else reject(failure);
    });
  });
}

/** Fails if any address is refused: a name with addresses of both kinds is not trusted. */
function resolveAllowed(
  { allowPrivate, resolve = systemResolve }: AddressGuard,
  host: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
): void {
  resolve(host, (error, addresses) => {
    if (error !== null) return callback(error, []);
    const refused = allowPrivate.has(host) ? undefined : addresses.find(({ address }) => !isPublicAddress(address));
    if (refused === undefined) callback(null, addresses);
    else callback(refusal(host, refused.address), []);
  });
}

function refusal(host: string, address: string): AddressRefused {
  const at = host === address ? host : `${host} (${address})`;
  return new AddressRefused(`${at} is a private address; allow_private in the routes file can allow ${host}`);
}

function noAddress(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}
