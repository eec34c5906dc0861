/** Length of the header of registry clients: a zero byte, then the schema id as a big-endian 32-bit integer. */
export const WIRE_HEADER_BYTES = 5;

/** The schema id of a record; null when it has no header. */
export function readSchemaId(value: Buffer): number | null {
  if (value.length < WIRE_HEADER_BYTES || value[0] !== 0) return null;
  return value.readUInt32BE(1);
}

export function wireHeader(schemaId: number): Buffer {
  const header = Buffer.alloc(WIRE_HEADER_BYTES);
  header.writeUInt32BE(schemaId, 1);
  return header;
}
