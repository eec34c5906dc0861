import { oneLine } from '../message/plain-text.ts';
import type { AddressGuard } from '../network/guarded-lookup.ts';
import { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, ReceiverTarget, Routes } from '../routes/alert-route.ts';
import { createAlertmanager } from './alertmanager.ts';
import { createEmail } from './email.ts';
import { createPagerDuty } from './pagerduty.ts';
import type { Receiver } from './receiver.ts';
import { SecretWords, secretsOf } from './secret-words.ts';
import { createSlack } from './slack.ts';
import { createWebhook } from './webhook.ts';

/** Longest detail of a failure. */
const DETAIL_CHARACTERS_MAX = 200;

/** A receiver of the routes file, with its limits. */
export interface OpenReceiver {
  readonly receiver: Receiver;
  readonly settings: ReceiverSettings;
}

/** Opens every receiver of a routes file. Nothing is sent yet. */
export function openReceivers({ receivers, allowPrivate }: Pick<Routes, 'receivers' | 'allowPrivate'>): OpenReceiver[] {
  const guard = { allowPrivate };
  return receivers.map((settings) => ({ settings, receiver: openReceiver(settings, guard) }));
}

/** Each has connections of its own, so that one which hangs does not use up those of others. */
export function openReceiver(settings: ReceiverSettings, guard: AddressGuard): Receiver {
  const { target } = settings;
  if (target.kind === 'email') return withoutSecrets(createEmail(settings, target, guard), target);
  const poster = new HttpPoster(guard);
  const receiver = withoutSecrets(openPosting(settings, target, poster), target);
  return { ...receiver, close: () => poster.close() };
}

/** The receiver, with details of its failures that hold no word of a secret setting and are short. */
function withoutSecrets(receiver: Receiver, target: ReceiverTarget): Receiver {
  const words = new SecretWords(secretsOf(target));
  // Hidden before it is cut: of half a secret nobody knows that it is one.
  const shown = (detail: string) => oneLine(words.hide(detail), DETAIL_CHARACTERS_MAX).trim();
  return {
    ...receiver,
    async send(notification, signal) {
      try {
        const outcome = await receiver.send(notification, signal);
        if (outcome.kind === 'accepted') return outcome;
        // This detail is ours: it has the host that the routes file can allow.
        return outcome.kind === 'refused' && outcome.reason === 'address-refused'
          ? outcome
          : { ...outcome, detail: shown(outcome.detail) };
      } catch (error) {
        // A bug. The notification must not be lost by it, nor the secret be found in its message.
        const detail = shown(`unexpected: ${error instanceof Error ? error.message : String(error)}`);
        return { kind: 'failed', detail, retryAfterMs: null };
      }
    },
  };
}

function openPosting(
  settings: ReceiverSettings,
  target: Exclude<ReceiverSettings['target'], { readonly kind: 'email' }>,
  poster: HttpPoster,
): Receiver {
  switch (target.kind) {
    case 'webhook':
      return createWebhook(settings, target, poster);
    case 'slack':
      return createSlack(settings, target, poster);
    case 'pagerduty':
      return createPagerDuty(settings, target, poster);
    case 'alertmanager':
      return createAlertmanager(settings, target, poster);
  }
}
