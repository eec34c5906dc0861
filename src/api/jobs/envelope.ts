/** A JSON header followed by bytes, as one buffer. */
export interface Envelope<H> {
  readonly header: H;
  readonly bytes: Uint8Array;
}

/** Layout: length of the header (uint32, big endian), header as JSON, bytes. */
const LENGTH_BYTES = 4;

export function encodeEnvelope<H>({ header, bytes }: Envelope<H>): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, bytes]);
}

export function decodeEnvelope<H>(envelope: Uint8Array): Envelope<H> {
  const { buffer, byteOffset, length } = envelope;
  const whole = Buffer.from(buffer, byteOffset, length);
  const start = LENGTH_BYTES + whole.readUInt32BE();
  return { header: JSON.parse(whole.toString('utf8', LENGTH_BYTES, start)) as H, bytes: whole.subarray(start) };
}
