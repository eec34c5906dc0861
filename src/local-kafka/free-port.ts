import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** Below the ports that systems give to connections: one of those would take it before it is used, or at a restart. */
const [FIRST_PORT, PORTS] = [20_000, 10_000];
/** Each process begins elsewhere, and looks at no port twice. */
let next = randomInt(PORTS);

const nextPort = () => FIRST_PORT + (next++ % PORTS);

/**
 * A TCP port of the loopback interface that was free a moment ago.
 * @param wanted the port that is taken where it is free
 */
export async function freePort(wanted = 0): Promise<number> {
  for (let port = wanted || nextPort(); ; port = nextPort()) {
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch (error) {
      if (port !== wanted && (error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Whether a port of the loopback interface accepts connections. */
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
