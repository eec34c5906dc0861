import type { CustomFetch } from 'openid-client';

/** As `fetch`, whose answers have at most `bytesMax` bytes: a longer one is an error, and is not read to its end. */
export function boundedFetch(bytesMax: number): CustomFetch {
  return async (url, options) => {
    const answer = await fetch(url, options as RequestInit);
    const { status, statusText, headers } = answer;
    const pieces: Uint8Array[] = [];
    let read = 0;
    for await (const piece of answer.body ?? []) {
      read += piece.length;
      if (read > bytesMax) throw new Error(`${url} answers with more than ${bytesMax} bytes`);
      pieces.push(piece);
    }
    return new Response(answer.body === null ? null : Buffer.concat(pieces), { status, statusText, headers });
  };
}
