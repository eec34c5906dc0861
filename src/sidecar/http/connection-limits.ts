import { BlockList, isIPv4, isIPv6, type Server, type Socket } from 'node:net';
import { OpenCounts } from '../accounts/open-counts.ts';

/** What one client may take of the service before its key is known. */
export interface ConnectionLimits {
  /** Open connections. Further ones are closed at once. */
  readonly connectionsMax: number;
  /** Open connections of one address, trusted proxies excepted. */
  readonly perAddressMax: number;
  /** Time for the headers of a request. */
  readonly headersMsMax: number;
  /** Time for a whole request, headers and body. */
  readonly requestMsMax: number;
  /** How often the two times above are checked. */
  readonly checkMs: number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  connectionsMax: 1_000,
  perAddressMax: 500,
  headersMsMax: 15_000,
  requestMsMax: 120_000,
  checkMs: 5_000,
};

/**
 * Closes connections beyond the limits as they are opened, so that file descriptors are left for jobs and the store.
 */
export function limitConnections(
  server: Server,
  { connectionsMax, perAddressMax }: ConnectionLimits,
  trustedProxies: readonly string[],
): void {
  server.maxConnections = connectionsMax;
  const trusted = networksOf(trustedProxies);
  const open = new OpenCounts();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    open.add(address);
    socket.once('close', () => open.remove(address));
    if (open.of(address) > perAddressMax && !isIn(trusted, address)) socket.destroy();
  });
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');

function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

/** IPv4 addresses of an IPv6 socket count as IPv4. */
function isIn(networks: BlockList, address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return (isIPv4(plain) || isIPv6(plain)) && networks.check(plain, familyOf(plain));
}
