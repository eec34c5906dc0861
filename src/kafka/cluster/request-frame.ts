import type { EncodedRequest } from './broker-connection.ts';

interface RequestHeader {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string;
}

/** Size, api key, version, correlation id and client id of a request, and its body. */
export function frameRequest(header: RequestHeader, { buffer, headroom }: EncodedRequest): Buffer {
  const { apiKey, apiVersion, correlationId, clientId } = header;
  const headerBytes = 14 + Buffer.byteLength(clientId);
  const isInPlace = headroom !== undefined && headroom.at >= headerBytes;
  const framed = isInPlace
    ? headroom.whole.subarray(headroom.at - headerBytes)
    : Buffer.concat([Buffer.alloc(headerBytes), buffer]);
  framed.writeInt32BE(framed.length - 4);
  framed.writeInt16BE(apiKey, 4);
  framed.writeInt16BE(apiVersion, 6);
  framed.writeInt32BE(correlationId, 8);
  framed.writeInt16BE(headerBytes - 14, 12);
  framed.write(clientId, 14);
  return framed;
}
