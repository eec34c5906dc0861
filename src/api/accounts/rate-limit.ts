import type { KeyStanding } from '../../store/ledger/credits.ts';

const MINUTE_S = 60;

/** The `RateLimit` headers of the IETF draft for the limits of a key; none for a key without limits. */
export function rateLimitHeaders({ minute, credits }: KeyStanding): Record<string, string> {
  const policies: string[] = [];
  const limits: string[] = [];
  if (minute !== null) {
    policies.push(`"calls";q=${minute.callsMax};w=${MINUTE_S}`);
    limits.push(`"calls";r=${minute.callsLeft};t=${Math.ceil(minute.resetMs / 1_000)}`);
  }
  // Credits are not refilled, so they have no window.
  if (credits !== null) limits.push(`"credits";r=${credits}`);
  return {
    ...(policies.length > 0 && { 'ratelimit-policy': policies.join(', ') }),
    ...(limits.length > 0 && { ratelimit: limits.join(', ') }),
  };
}
