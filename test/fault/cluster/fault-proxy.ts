import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What happens to the connections through a proxy. */
export type LinkFault =
  | { readonly kind: 'none' }
  /** Connections are closed, and new ones refused. */
  | { readonly kind: 'cut' }
  /** Bytes arrive later, in both directions. */
  | { readonly kind: 'delayed'; readonly ms: number }
  /** Requests arrive; responses do not. */
  | { readonly kind: 'half' };

export interface FaultProxy {
  readonly port: number;
  set(fault: LinkFault): void;
  close(): Promise<void>;
}

/**
 * Passes connections on to a port of this machine, and disturbs them on demand.
 * @param port 0: a free one
 */
export async function startFaultProxy(port: number, target: () => number): Promise<FaultProxy> {
  let fault: LinkFault = { kind: 'none' };
  const pairs = new Set<readonly [Socket, Socket]>();
  const cutAll = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const server = createServer((client) => {
    if (fault.kind === 'cut') {
      client.destroy();
      return;
    }
    const broker = connect({ host: '127.0.0.1', port: target() });
    const pair = [client, broker] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [broker, client] as const]) {
      from.on('data', (bytes: Buffer) => {
        if (fault.kind === 'half' && from === broker) return;
        if (fault.kind === 'delayed') setTimeout(() => to.write(bytes), fault.ms);
        else to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      // Bytes that were withheld or delayed would be missing, or overtaken: such connections cannot go on.
      if (next.kind === 'cut' || fault.kind === 'half' || fault.kind === 'delayed') cutAll();
      fault = next;
    },
    async close() {
      server.close();
      cutAll();
    },
  };
}
