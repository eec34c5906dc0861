/** Messages that senders of OTLP are answered with, as bytes of Protobuf. */

/** An ExportMetricsServiceResponse: field 1 has rejected_data_points (1, varint) and error_message (2, text). */
export function partialSuccess(refused: number, errorMessage: string): Buffer {
  return refused === 0 ? Buffer.alloc(0) : bytesField(1, countAndText(refused, errorMessage));
}

/** A message with a number (1, varint) and a text (2): a google.rpc.Status, or what was refused. */
export function countAndText(count: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([8]), varint(count), bytesField(2, Buffer.from(text))]);
}

const [INVALID_ARGUMENT, INTERNAL, UNAVAILABLE] = [3, 13, 14];
/** PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNIMPLEMENTED, UNAUTHENTICATED and the one above, by statuses of HTTP. */
const RPC_CODES: Readonly<Record<number, number>> = {
  401: 16,
  403: 7,
  404: 12,
  408: UNAVAILABLE,
  429: 8,
  503: UNAVAILABLE,
};

/** The google.rpc.Code of a status of HTTP, the same over HTTP and gRPC. */
export function rpcCodeOf(httpStatus: number): number {
  return RPC_CODES[httpStatus] ?? (httpStatus < 500 ? INVALID_ARGUMENT : INTERNAL);
}

const RETRY_INFO = Buffer.from('type.googleapis.com/google.rpc.RetryInfo');

/** A google.rpc.Status whose details (3) are RetryInfo: senders retry after that delay. */
export function retryStatus(code: number, message: string, delaySeconds: number): Buffer {
  const duration = Buffer.concat([Buffer.from([8]), varint(delaySeconds)]);
  const details = Buffer.concat([bytesField(1, RETRY_INFO), bytesField(2, bytesField(1, duration))]);
  return Buffer.concat([countAndText(code, message), bytesField(3, details)]);
}

function bytesField(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2]), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
