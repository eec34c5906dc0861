import { FINDING_KINDS, type Finding } from './finding.ts';

/** Metadata of a committed offset have at most so many bytes. Brokers allow 4,096 by default. */
export const METADATA_BYTES_MAX = 2_048;
const VERSION = 1;

/** The findings of a partition as metadata of its committed offset, the worst that fit; null without any. */
export function encodeFindings(findings: readonly Finding[]): string | null {
  for (let count = findings.length; count > 0; count--) {
    const metadata = JSON.stringify({ version: VERSION, findings: findings.slice(0, count) });
    if (Buffer.byteLength(metadata) <= METADATA_BYTES_MAX) return metadata;
  }
  return null;
}

/** The findings in such metadata; none where another program, or another version, wrote them. */
export function decodeFindings(metadata: string | null): readonly Finding[] {
  if (metadata === null || !metadata.startsWith(`{"version":${VERSION},`)) return [];
  try {
    const { findings } = JSON.parse(metadata) as { readonly findings: readonly Finding[] };
    return findings.filter(({ kind }) => FINDING_KINDS.includes(kind));
  } catch {
    return [];
  }
}
