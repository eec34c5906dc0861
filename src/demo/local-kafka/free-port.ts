import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Below the ports that systems give to connections: one of those would take it before it is used, or at a restart. */
const [FIRST_PORT, PORTS] = [20_000, 10_000];
/** Each process begins elsewhere, and looks at no port twice. */
let next = randomInt(PORTS);

const nextPort = () => FIRST_PORT + (next++ % PORTS);

/** Those that this process was given. */
const reserved = new Set<number>();

/**
 * A free TCP port of the loopback interface. No other process is given it until this one ends, so that a
 * server can leave it and return to it.
 * @param wanted the port that is taken where it is free. It is not held: whoever has its data may want it next
 */
export async function freePort(wanted = 0): Promise<number> {
  for (let port = wanted || nextPort(); ; port = nextPort()) {
    try {
      if (!reserved.has(port)) await reserve(port, port !== wanted);
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      server.close();
      await once(server, 'close');
      return port;
    } catch (error) {
      if (port !== wanted && (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** By the UDP port of the same number, which nothing here uses: the system frees it however this process ends. */
async function reserve(port: number, isHeld: boolean): Promise<void> {
  const socket = createSocket('udp4').bind({ port, address: '127.0.0.1', exclusive: true }).unref();
  await once(socket, 'listening');
  if (isHeld) reserved.add(port);
  else socket.close();
}

/** True if a port of the loopback interface accepts connections. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}
