import type { Socket } from 'node:net';
import type { SocketFactory } from '../protocol/broker-connection.ts';
import { PART_ARRIVED } from '../protocol/framed-sockets.ts';
import { type BrokerAddress, isRefused } from './given-up.ts';

/** A connection that waits for the peer: to be opened, or for an answer. */
export interface WaitingConnection extends BrokerAddress {
  readonly waitedMs: number;
  /** True if any answer ever came on it. */
  readonly answered: boolean;
  /** Closes it at once. Requests in flight are rejected. */
  drop(): void;
}

export interface TrackedSockets {
  readonly factory: SocketFactory;
  waiting(nowMs: number): WaitingConnection[];
  drop(address: BrokerAddress): void;
  destroy(): void;
}

interface TrackedSocket extends BrokerAddress {
  /** Since when an expected answer has not arrived; null: none is expected. */
  sinceMs: number | null;
  answered: boolean;
}

/** Destroys sockets with an error: kafkajs notices a bare `socket.destroy()` only at the time-out of a request. */
export function trackSockets(factory: SocketFactory): TrackedSockets {
  const sockets = new Map<Socket, TrackedSocket>();
  let destroyed = false;
  const end = (socket: Socket) => socket.destroy(new Error('The connection was closed on our side'));
  return {
    factory: (args) => {
      const socket = factory(args);
      const { host, port, ssl } = args;
      const tracked: TrackedSocket = { host, port, sinceMs: performance.now(), answered: false };
      sockets.set(socket, tracked);
      socket.once('close', () => {
        sockets.delete(socket);
        // kafkajs disconnects a socket that is closed again and again, and each time a listener would be added.
        socket.unref = () => socket;
      });
      noteAnswers(socket, tracked, ssl ? 'secureConnect' : 'connect');
      // kafkajs attaches its listeners after this function has returned.
      if (destroyed || isRefused(tracked, performance.now())) setImmediate(end, socket);
      return socket;
    },
    waiting: (nowMs) =>
      Array.from(sockets).flatMap(([socket, { host, port, sinceMs, answered }]) => {
        return sinceMs === null ? [] : [{ host, port, waitedMs: nowMs - sinceMs, answered, drop: () => end(socket) }];
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

function noteAnswers(socket: Socket, tracked: TrackedSocket, opened: 'connect' | 'secureConnect'): void {
  const write = socket.write.bind(socket);
  socket.write = (bytes: Uint8Array | string, ...rest: unknown[]) => {
    tracked.sinceMs ??= performance.now();
    return write(bytes, ...(rest as []));
  };
  socket.once(opened, () => {
    tracked.sinceMs = null;
  });
  const noteAnswer = () => {
    tracked.sinceMs = null;
    tracked.answered = true;
  };
  socket.on('data', noteAnswer).on(PART_ARRIVED, noteAnswer);
}
