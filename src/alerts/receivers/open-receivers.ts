import { oneLine } from '../message/plain-text.ts';
import type { AddressGuard } from '../network/guarded-lookup.ts';
import { HttpPoster } from '../network/http-post.ts';
import type { Routes } from '../routes/alert-route.ts';
import type { ReceiverSettings, ReceiverTarget } from '../routes/receiver-schema.ts';
import { sendToAlertmanager } from './alertmanager.ts';
import { sendMail } from './email.ts';
import { sendToPagerDuty } from './pagerduty.ts';
import type { Receiver, Send } from './receiver.ts';
import { SecretWords, secretsOf } from './secret-words.ts';
import { sendToSlack } from './slack.ts';
import { sendToWebhook } from './webhook.ts';

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
  const poster = new HttpPoster(guard);
  const send = withoutSecrets(sendTo(settings, poster, guard), target);
  return { send, close: () => poster.close() };
}

/** Details of failures are short, and hold no word of a secret setting. */
function withoutSecrets(send: Send, target: ReceiverTarget): Send {
  const words = new SecretWords(secretsOf(target));
  // Hidden before it is cut, because half of a secret is not recognized.
  const shown = (detail: string) => oneLine(words.hide(detail), DETAIL_CHARACTERS_MAX).trim();
  return async (notification, signal) => {
    try {
      const outcome = await send(notification, signal);
      if (outcome.kind === 'accepted') return outcome;
      if (outcome.kind === 'partial') {
        const refused = outcome.refused.map((each) => ({ ...each, detail: shown(each.detail) }));
        return { ...outcome, refused, detail: shown(outcome.detail) };
      }
      // This detail is ours: it has the host that the routes file can allow.
      return outcome.kind === 'refused' && outcome.reason === 'address-refused'
        ? outcome
        : { ...outcome, detail: shown(outcome.detail) };
    } catch (error) {
      // A bug. The notification must not be lost by it, nor the secret be found in its message.
      const detail = shown(`unexpected: ${error instanceof Error ? error.message : String(error)}`);
      return { kind: 'failed', detail, retryAfterMs: null };
    }
  };
}

function sendTo(settings: ReceiverSettings, poster: HttpPoster, guard: AddressGuard): Send {
  const { target } = settings;
  switch (target.kind) {
    case 'webhook':
      return sendToWebhook(settings, target, poster);
    case 'slack':
      return sendToSlack(settings, target, poster);
    case 'pagerduty':
      return sendToPagerDuty(settings, target, poster);
    case 'alertmanager':
      return sendToAlertmanager(settings, target, poster);
    case 'email':
      return sendMail(settings, target, guard);
  }
}
