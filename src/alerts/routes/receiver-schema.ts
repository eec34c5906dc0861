import { headerValue, httpUrl } from '../../config/options/option-kinds.ts';
import { durationMs, entryName, integerFrom, oneOf, text, textMatching, textOf } from '../../config/schema/kinds.ts';
import type { MappingPlace } from '../../config/schema/place.ts';
import { byName, defaulted, oneOrMore, optional, required, type Setting, section } from '../../config/schema/schema.ts';
import { secretKey } from '../../config/schema/secret-key.ts';
import { parseTemplate, type Template } from '../message/template.ts';
import { DEFAULT_WORDING, type Wording } from '../message/wording.ts';

const TIMEOUT_MS_MIN = 100;
const TIMEOUT_MS_MAX = 60_000;
/** Address of PagerDuty, unless a setting names another one. */
export const PAGERDUTY_URL = 'https://events.pagerduty.com/v2/enqueue';
const SMTP_PORT = { implicit: 465, starttls: 587, none: 25 } as const;

/** The lengths of Standard Webhooks. */
const signingSecret = textOf('a secret of 24 to 64 bytes in base64, with or without whsec_', (secret) => {
  const base64 = secret.replace(/^whsec_/, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  const { length } = Buffer.from(base64, 'base64');
  return length >= 24 && length <= 64 ? secret : undefined;
});
const routingKey = textMatching('a key of 32 letters and digits', /^[a-zA-Z0-9]{32}$/);
const mailAddress = textMatching('a mail address', /^[^\s@<>,;:"\\()[\]]+@[^\s@<>,;:"\\()[\]]+$/);
const hostName = textMatching('a host name or address', /^(?:[a-zA-Z0-9._-]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*)$/);
const timeout = textOf('a duration from 100ms to 1min', (value) => {
  const ms = durationMs.parse(value);
  return ms !== undefined && ms >= TIMEOUT_MS_MIN && ms <= TIMEOUT_MS_MAX ? ms : undefined;
});
const alertName = textMatching('1 to 64 letters, digits or underscores', /^[a-zA-Z_]\w{0,63}$/);
const authorization = secretKey(headerValue, 'Value of the header `authorization`.');

const webhook = section(
  {
    url: secretKey(httpUrl, 'URL to which messages are posted.', { plain: true, required: true }),
    secret: secretKey(
      signingSecret,
      '24 to 64 bytes in base64, with or without whsec_. If it is missing, messages are not signed.',
    ),
    authorization,
  },
  ({ url, secret = null, authorization = null }) =>
    url === undefined ? undefined : { kind: 'webhook' as const, url, secret, authorization },
);

const slack = section(
  { url: secretKey(httpUrl, 'An incoming webhook; it is a secret.', { plain: true, required: true }) },
  ({ url }) => (url === undefined ? undefined : { kind: 'slack' as const, url }),
);

const pagerduty = section(
  {
    url: secretKey(httpUrl, `Events API v2. Default: ${PAGERDUTY_URL}.`, { plain: true }),
    routingKey: secretKey(routingKey, 'Routing key of the service.', { required: true }),
  },
  ({ url = PAGERDUTY_URL, routingKey }) =>
    routingKey === undefined ? undefined : { kind: 'pagerduty' as const, url, routingKey },
);

const alertmanager = section(
  {
    url: secretKey(httpUrl, 'Alertmanager, without /api/v2/alerts.', { plain: true, required: true }),
    authorization,
    alertname: defaulted(alertName, 'Anomaly', 'Label `alertname` of events.'),
    severities: defaulted(
      byName(alertName, { pattern: /^(warning|error|critical)$/, expected: 'warning, error or critical', max: 3 }),
      {},
      'Other words for the label `severity`: { error: warning } if rules know no error.',
    ),
  },
  ({ url, authorization = null, alertname, severities }) =>
    url === undefined
      ? undefined
      : { kind: 'alertmanager' as const, url: url.replace(/\/+$/, ''), authorization, alertname, severities },
);

const email = section(
  {
    host: required(hostName, 'The mail server.'),
    tls: defaulted(
      oneOf('implicit', 'starttls', 'none'),
      'starttls',
      'A server that does not offer starttls is refused.',
    ),
    port: optional(integerFrom(1, 65_535), 'Default: 587 with starttls, 465 with implicit, 25 with none.'),
    username: optional(text, 'With `password_env` or `password_file`.'),
    password: secretKey(text, 'Password of `username`.'),
    from: required(mailAddress, 'Sender.'),
    to: required(oneOrMore(mailAddress), 'One recipient or several.'),
  },
  ({ host, tls, port, username, password, from, to }, place) => {
    const hasPassword = place.has('password_env') || place.has('password_file');
    if (username !== undefined && !hasPassword) place.problem('password_env', 'set, because username is', undefined);
    if (username === undefined && hasPassword) place.problem('username', 'set', undefined);
    if (username !== undefined && tls === 'none') {
      place.problem('tls', 'implicit or starttls, because username is set', tls);
    }
    if (host === undefined || from === undefined || to === undefined) return undefined;
    const login = username !== undefined && password !== undefined ? { username, password } : null;
    return { kind: 'email' as const, host, port: port ?? SMTP_PORT[tls], tls, login, from, to };
  },
);

const template = {
  ...text,
  read(node, place) {
    const source = text.read(node, place);
    if (source === undefined) return undefined;
    const parsed = parseTemplate(source);
    if (parsed.kind === 'template') return parsed.template;
    place.report(`${place.path} must be ${parsed.problem}`);
    return undefined;
  },
} satisfies Setting<Template>;

const TARGETS = { webhook, slack, pagerduty, alertmanager, email };
const TARGET_KEYS = Object.keys(TARGETS);

/** A receiver of this kind, as its section is read. */
export type TargetOf<K extends keyof typeof TARGETS> = NonNullable<ReturnType<(typeof TARGETS)[K]['read']>>;
export type ReceiverTarget = { [K in keyof typeof TARGETS]: TargetOf<K> }[keyof typeof TARGETS];

export interface ReceiverSettings {
  readonly name: string;
  readonly target: ReceiverTarget;
  readonly wording: Wording;
  /** Time of retries before a failed notification becomes a dead letter. */
  readonly retryForMs: number;
  readonly timeoutMs: number;
}

export interface ReadReceiver {
  readonly receiver: Omit<ReceiverSettings, 'wording'> & { readonly wording: Omit<Wording, 'consoleUrl'> };
  readonly place: MappingPlace;
}

export const receiver = section(
  {
    name: required(entryName, 'Unique; routes name it.'),
    webhook: optional(webhook, 'Standard Webhooks (standardwebhooks.com): signed, with an id that retries share.'),
    slack: optional(slack, 'An incoming webhook of Slack.'),
    pagerduty: optional(pagerduty, 'PagerDuty Events API v2: one event is one incident.'),
    alertmanager: optional(alertmanager, 'Prometheus Alertmanager, API v2.'),
    email: optional(email, 'Mail by SMTP.'),
    retryForMs: defaulted(
      durationMs,
      '1d',
      'How long a failed message is retried before it becomes a dead letter.',
      'retry_for',
    ),
    timeoutMs: defaulted(timeout, '10s', 'Limit of one attempt, to the end of the answer; 100ms to 1min.', 'timeout'),
    template: defaulted(
      section(
        {
          title: optional(
            template,
            'One line in Mustache: {{field}}, {{#field}}...{{/field}}, {{^field}}...{{/field}}.',
          ),
          text: optional(template, 'Also {{#events}}...{{/events}}.'),
        },
        (templates) => templates,
      ),
      {},
      'Texts of a message, without markup.',
    ),
  },
  ({ name, retryForMs, timeoutMs, template, ...targets }, place): ReadReceiver | undefined => {
    const given = TARGET_KEYS.filter((kind) => place.has(kind));
    if (given.length !== 1) {
      const got = given.length === 0 ? undefined : given.join(' and ');
      place.problem(given[1] ?? TARGET_KEYS[0], `one of ${TARGET_KEYS.join(', ')}`, got);
    }
    const target = Object.values(targets).find((read) => read !== undefined);
    if (name === undefined || target === undefined) return undefined;
    const wording = { title: template.title ?? DEFAULT_WORDING.title, text: template.text ?? DEFAULT_WORDING.text };
    return { receiver: { name, target, wording, retryForMs, timeoutMs }, place };
  },
);
