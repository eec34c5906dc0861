import { DIAGNOSTIC_KINDS, type Diagnostic } from './diagnostic.ts';

/** Metadata of a committed offset have at most so many bytes. Brokers allow 4,096 by default. */
export const METADATA_BYTES_MAX = 2_048;
const VERSION = 1;

/** The diagnostics of a partition as metadata of its committed offset, the worst that fit; null without any. */
export function encodeDiagnostics(diagnostics: readonly Diagnostic[]): string | null {
  for (let count = diagnostics.length; count > 0; count--) {
    const metadata = JSON.stringify({ version: VERSION, findings: diagnostics.slice(0, count) });
    if (Buffer.byteLength(metadata) <= METADATA_BYTES_MAX) return metadata;
  }
  return null;
}

/** The diagnostics in such metadata; none where another program, or another version, wrote them. */
export function decodeDiagnostics(metadata: string | null): readonly Diagnostic[] {
  if (metadata === null || !metadata.startsWith(`{"version":${VERSION},`)) return [];
  try {
    const { findings } = JSON.parse(metadata) as { readonly findings: readonly Diagnostic[] };
    return findings.filter(({ kind }) => DIAGNOSTIC_KINDS.includes(kind));
  } catch {
    return [];
  }
}
