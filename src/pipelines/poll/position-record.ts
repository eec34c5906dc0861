/** The position of a source, as a record of a compacted topic. */

const VERSION = 1;

export function positionKey(name: string): Buffer {
  return Buffer.from(`prometheus/${name}`);
}

/** @param nextMs the oldest step that was not written yet */
export function encodeSourcePosition(nextMs: number): Buffer {
  return Buffer.from(JSON.stringify({ version: VERSION, nextMs }));
}

/** null if another version, or another program, wrote it. */
export function decodeSourcePosition(value: Buffer | null): number | null {
  try {
    const read = JSON.parse(String(value)) as { readonly version?: unknown; readonly nextMs?: unknown } | null;
    return read?.version === VERSION && Number.isSafeInteger(read.nextMs) ? (read.nextMs as number) : null;
  } catch {
    return null;
  }
}
