import type { Socket } from 'node:net';
import type { ISocketFactory } from 'kafkajs';

export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

/** An address whose answer has been awaited for a while. */
export interface AwaitedAddress extends BrokerAddress {
  readonly waitedMs: number;
  /** Whether any answer ever came on that connection. */
  readonly answered: boolean;
}

export interface TrackedSockets {
  readonly factory: ISocketFactory;
  /** Where the answer to a request has been awaited for so long, or longer. */
  awaited(nowMs: number, ms: number): AwaitedAddress[];
  drop(address: BrokerAddress): void;
  destroy(): void;
}

interface TrackedSocket extends BrokerAddress {
  /** Since when something was sent and nothing has come; null: nothing is awaited. */
  sinceMs: number | null;
  answered: boolean;
}

/** Destroys sockets with an error: kafkajs notices a bare `socket.destroy()` only at the time-out of a request. */
export function trackSockets(factory: ISocketFactory): TrackedSockets {
  const sockets = new Map<Socket, TrackedSocket>();
  let destroyed = false;
  const end = (socket: Socket) => socket.destroy(new Error('The connection was closed on our side'));
  return {
    factory: (args) => {
      const socket = factory(args);
      const tracked: TrackedSocket = { host: args.host, port: args.port, sinceMs: null, answered: false };
      sockets.set(socket, tracked);
      socket.once('close', () => sockets.delete(socket));
      noteAnswers(socket, tracked);
      // kafkajs attaches its listeners after this function has returned.
      if (destroyed) setImmediate(end, socket);
      return socket;
    },
    awaited: (nowMs, ms) =>
      [...sockets.values()].flatMap(({ host, port, sinceMs, answered }) => {
        const waitedMs = sinceMs === null ? 0 : nowMs - sinceMs;
        return waitedMs >= ms ? [{ host, port, waitedMs, answered }] : [];
      }),
    drop: ({ host, port }) => {
      for (const [socket, to] of sockets) if (to.host === host && to.port === port) end(socket);
    },
    destroy: () => {
      destroyed = true;
      for (const socket of sockets.keys()) end(socket);
    },
  };
}

function noteAnswers(socket: Socket, tracked: TrackedSocket): void {
  const write = socket.write.bind(socket);
  socket.write = (bytes: Uint8Array | string, ...rest: unknown[]) => {
    tracked.sinceMs ??= performance.now();
    return write(bytes, ...(rest as []));
  };
  socket.on('data', () => {
    tracked.sinceMs = null;
    tracked.answered = true;
  });
}
