import { Webhook } from 'standardwebhooks';
import { type Notification, typeOf } from '../message/notification.ts';
import { consoleLink, dedupKeyOf } from '../message/subject.ts';
import { type Worded, type Wording, wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, TargetOf } from '../routes/receiver-schema.ts';
import { postAlert, type Send } from './receiver.ts';

/** A webhook of Standard Webhooks: signed, with an id that a repetition shares. */
export function sendToWebhook(
  { wording, timeoutMs }: ReceiverSettings,
  { url, secret, authorization }: TargetOf<'webhook'>,
  poster: HttpPoster,
): Send {
  const signer = secret === null ? null : new Webhook(secret);
  return (notification, signal) => {
    const body = JSON.stringify(webhookPayload(notification, wordsOf(wording, notification), wording));
    const now = new Date();
    const headers = {
      'webhook-id': notification.id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      ...(signer && { 'webhook-signature': signer.sign(notification.id, now, body) }),
      ...(authorization !== null && { authorization }),
    };
    return postAlert({ poster, url, headers, body, timeoutMs, signal });
  };
}

/**
 * The body: `type`, `timestamp` and `data`, as Standard Webhooks has them. Each event and incident has the fields of
 * its record, and `type` as it is sent here; `dedupKey` is the same in every message about it.
 */
function webhookPayload(
  notification: Notification,
  { title, text }: Worded,
  { consoleUrl }: Pick<Wording, 'consoleUrl'>,
) {
  const { route, receiver, group, createdAtMs, notices } = notification;
  const about = notices.some((notice) => 'incident' in notice) ? 'incident' : 'anomaly';
  return {
    type: `${about}.${typeOf(notification)}`,
    timestamp: new Date(createdAtMs).toISOString(),
    data: {
      title,
      text,
      route,
      receiver,
      group,
      events: notices.flatMap((notice) => {
        if (!('event' in notice)) return [];
        return [
          { dedupKey: dedupKeyOf(notice), link: consoleLink(consoleUrl, notice), ...notice.event, type: notice.type },
        ];
      }),
      incidents: notices.flatMap((notice) => {
        if (!('incident' in notice)) return [];
        const { incident, type } = notice;
        return [{ dedupKey: dedupKeyOf(notice), link: consoleLink(consoleUrl, notice), ...incident, type }];
      }),
    },
  };
}
