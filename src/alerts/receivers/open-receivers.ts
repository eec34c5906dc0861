import type { AddressGuard } from '../network/guarded-lookup.ts';
import { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, Routes } from '../routes/alert-route.ts';
import { createAlertmanager } from './alertmanager.ts';
import { createEmail } from './email.ts';
import { createPagerDuty } from './pagerduty.ts';
import type { Receiver } from './receiver.ts';
import { createSlack } from './slack.ts';
import { createWebhook } from './webhook.ts';

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
  if (target.kind === 'email') return createEmail(settings, target, guard);
  const poster = new HttpPoster(guard);
  const receiver = openPosting(settings, target, poster);
  return { ...receiver, close: () => poster.close() };
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
