import type { Socket } from 'node:net';
import type { EncodedRequest } from './broker-connection.ts';

interface RequestHeader {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string;
}

/** Size, api key, version, correlation id and client id of a request, and its body: all that is sent, in parts. */
export function frameRequest(header: RequestHeader, { buffer, headroom }: EncodedRequest): readonly Buffer[] {
  const { apiKey, apiVersion, correlationId, clientId } = header;
  const headerBytes = 14 + Buffer.byteLength(clientId);
  const isInPlace = headroom !== undefined && headroom.at >= headerBytes;
  const framed = isInPlace
    ? headroom.whole.subarray(headroom.at - headerBytes)
    : Buffer.concat([Buffer.alloc(headerBytes), buffer]);
  const rest = headroom?.rest ?? [];
  const restBytes = rest.reduce((bytes, part) => bytes + part.length, 0);
  framed.writeInt32BE(framed.length + restBytes - 4);
  framed.writeInt16BE(apiKey, 4);
  framed.writeInt16BE(apiVersion, 6);
  framed.writeInt32BE(correlationId, 8);
  framed.writeInt16BE(headerBytes - 14, 12);
  framed.write(clientId, 14);
  return [framed, ...rest];
}

/** In one call of the system, where the socket has room. */
export function writeTogether(socket: Socket, parts: readonly Buffer[]): void {
  socket.cork();
  for (const part of parts) socket.write(part);
  socket.uncork();
}
