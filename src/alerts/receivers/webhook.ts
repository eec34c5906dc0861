import { Webhook } from 'standardwebhooks';
import { eventLink } from '../message/event-link.ts';
import { type Notification, typeOf } from '../message/notification.ts';
import { type Worded, type Wording, wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, WebhookTarget } from '../routes/alert-route.ts';
import { postAlert } from './http-receiver.ts';
import type { Receiver } from './receiver.ts';

/** A webhook of Standard Webhooks: signed, with an id that a repetition shares. */
export function createWebhook(
  { name, wording, timeoutMs }: ReceiverSettings,
  { url, secret, authorization }: WebhookTarget,
  poster: HttpPoster,
): Receiver {
  const signer = secret === null ? null : new Webhook(secret);
  return {
    name,
    forgets: false,
    send: (notification, signal) => {
      const body = JSON.stringify(webhookPayload(notification, wordsOf(wording, notification), wording));
      const now = new Date();
      const headers = {
        'webhook-id': notification.id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
        ...(signer && { 'webhook-signature': signer.sign(notification.id, now, body) }),
        ...(authorization !== null && { authorization }),
      };
      return postAlert({ poster, url, headers, body, timeoutMs, signal });
    },
    close: () => {},
  };
}

/**
 * The body: `type`, `timestamp` and `data`, as Standard Webhooks has them. Each event has the fields of its record, and
 * `type` as it is sent here; `dedupKey` is the same in every message about it.
 */
function webhookPayload(
  notification: Notification,
  { title, text }: Worded,
  { consoleUrl }: Pick<Wording, 'consoleUrl'>,
) {
  const { route, receiver, group, escalatedAfterMinutes, createdAtMs, notices } = notification;
  return {
    type: `anomaly.${typeOf(notification)}`,
    timestamp: new Date(createdAtMs).toISOString(),
    data: {
      title,
      text,
      route,
      receiver,
      group,
      escalatedAfterMinutes,
      events: notices.map(({ type, event }) => {
        return { dedupKey: event.eventId, link: eventLink(consoleUrl, event), ...event, type };
      }),
    },
  };
}
