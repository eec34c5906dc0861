import { oneLine } from '../message/plain-text.ts';
import { type HttpPoster, isAcceptance, type PostAnswer } from '../network/http-post.ts';
import { ACCEPTED, type DeliveryOutcome } from './receiver.ts';

/** Most of an answer that a detail repeats. */
const EXCERPT_CHARACTERS_MAX = 200;
/** Statuses besides 5xx after which a repetition may help: time-out, too early, too many requests. */
const PASSING = new Set([408, 425, 429]);

export interface JsonPost {
  readonly poster: HttpPoster;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A receiver may send back what it was sent: these do not reach a detail. */
  readonly secrets: readonly (string | null)[];
}

/** Posts JSON, and says what the answer means. Only 2xx is an acceptance. */
export async function postAlert({ poster, headers = {}, secrets, ...request }: JsonPost): Promise<DeliveryOutcome> {
  const answer = await poster.post({ ...request, headers: { 'content-type': 'application/json', ...headers } });
  const outcome = judge(answer);
  if (outcome.kind === 'accepted') return outcome;
  return { ...outcome, detail: withoutSecrets(outcome.detail, secrets) };
}

function judge(answer: PostAnswer): DeliveryOutcome {
  switch (answer.kind) {
    case 'address-refused':
      return { kind: 'refused', reason: 'address-refused', detail: answer.detail };
    case 'unreachable':
      return { kind: 'failed', detail: oneLine(answer.detail, EXCERPT_CHARACTERS_MAX), retryAfterMs: null };
    case 'answer': {
      const { status, excerpt, retryAfterMs } = answer;
      if (isAcceptance(status)) return ACCEPTED;
      const said = oneLine(excerpt, EXCERPT_CHARACTERS_MAX).trim();
      const detail = `status ${status}${said === '' ? '' : `: ${said}`}`;
      if (status >= 300 && status < 400) {
        return { kind: 'refused', reason: 'refused', detail: `status ${status}: redirects are not followed` };
      }
      if (status >= 500 || PASSING.has(status)) return { kind: 'failed', detail, retryAfterMs };
      return { kind: 'refused', reason: 'refused', detail };
    }
  }
}

/** Shorter secrets would blank ordinary words. */
const SECRET_CHARACTERS_MIN = 6;

/** Text in which secrets, also encoded as in a URL, are hidden. */
export function withoutSecrets(text: string, secrets: readonly (string | null)[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret === null || secret.length < SECRET_CHARACTERS_MIN) continue;
    clean = clean.replaceAll(secret, '***').replaceAll(encodeURIComponent(secret), '***');
  }
  return clean;
}
