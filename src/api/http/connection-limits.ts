import { BlockList, isIPv4, isIPv6, type Server, type Socket } from 'node:net';
import { OpenCounts } from '../accounts/open-counts.ts';
import type { App } from './exchange/app-services.ts';

/** Limits of a client before its key is known. */
export const CONNECTION_LIMITS = {
  /** Open connections. Further ones are closed at once. */
  connectionsMax: 1_000,
  /** Open connections of one address, and never more than it leaves free for others; trusted proxies excepted. */
  perAddressMax: 500,
  /** Requests of one connection that wait for their answers. With one more it is closed. */
  waitingMax: 4,
  headersMsMax: 15_000,
  /** Time for a whole request, headers and body. */
  requestMsMax: 120_000,
  /** Time for a client to read anything of an answer that waits for it. */
  stalledMsMax: 60_000,
  /** Interval at which the times of requests are checked. */
  checkMs: 5_000,
};
export type ConnectionLimits = Readonly<typeof CONNECTION_LIMITS>;

/** Closes connections beyond the limits as they are opened: file descriptors remain for jobs and the store. */
export function limitSockets(
  server: Server,
  { connectionsMax, perAddressMax }: ConnectionLimits,
  trustedProxies: readonly string[],
): void {
  const trusted = networksOf(trustedProxies);
  const [open, sockets] = [new OpenCounts(), new Set<Socket>()];
  server.maxConnections = connectionsMax;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    open.add(address);
    sockets.add(socket);
    socket.once('close', () => {
      open.remove(address);
      sockets.delete(socket);
    });
    const room = Math.min(perAddressMax, connectionsMax - sockets.size + 1);
    if (open.of(address) > room && !isIn(trusted, address)) socket.destroy();
  });
}

/** Closes connections whose clients read nothing of an answer. While a request is worked on, nothing waits. */
export function closeStalled(app: App, { stalledMsMax }: ConnectionLimits): void {
  app.addHook('onRequest', async (_request, { raw }) => {
    raw.setTimeout(stalledMsMax, () => {
      if (raw.socket !== null && raw.socket.writableLength > 0) raw.socket.destroy();
    });
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
