import type { Notification } from './notification.ts';
import { oneLine } from './plain-text.ts';
import { type ParsedTemplate, parseTemplate, renderTemplate, type Template } from './template.ts';

/** Templates of a receiver, and what they may point to. */
export interface Wording {
  /** Where people reach the console; null: messages have no links. */
  readonly consoleUrl: string | null;
  readonly title: Template;
  readonly text: Template;
}

const TITLE_CHARACTERS_MAX = 200;

const DEFAULT_TITLE =
  '{{#if escalatedAfterMinutes}}Still open after {{escalatedAfterMinutes}} min: {{/if}}' +
  '[{{status}}] {{#if incidentId}}{{summary}}{{else}}' +
  '{{kind}} in {{subject}}{{#if others}} and {{others}} more{{/if}}{{/if}}';

const INCIDENT_TEXT =
  '[{{type}}] {{summary}}\n' +
  '{{urgency}}, {{eventCount}} events, since {{startedAt}}, {{goesOn}}' +
  '{{#if closeReason}}, {{closeReason}}{{/if}}\n' +
  '{{#if origin1}}It may have begun in\n1. {{origin1}}\n{{/if}}' +
  '{{#if origin2}}2. {{origin2}}\n{{/if}}{{#if origin3}}3. {{origin3}}\n{{/if}}' +
  'series: {{members}}\n';

const EVENT_TEXT =
  '[{{type}}] {{subject}}: {{summary}}\n' +
  '{{#if usual}}usual then: {{usual}}{{#if distance}}; {{distance}}{{/if}}\n{{/if}}' +
  '{{kind}}, {{urgency}}, detector {{detector}}, since {{startedAt}}, {{goesOn}}' +
  '{{#if closeReason}}, {{closeReason}}{{/if}}\n' +
  '{{#if members}}members: {{members}}\n{{/if}}';

const DEFAULT_TEXT =
  `{{#each events}}{{#if incidentId}}${INCIDENT_TEXT}{{else}}${EVENT_TEXT}{{/if}}` +
  '{{#if changes}}{{changes}}\n{{/if}}' +
  '{{#if nextStep}}next step: {{nextStep}}\n{{/if}}{{#if runbook}}runbook: {{runbook}}\n{{/if}}' +
  '{{#if link}}{{link}}\n{{/if}}{{#if acknowledgeLink}}acknowledge: {{acknowledgeLink}}\nmute: {{muteLink}}\n{{/if}}' +
  '{{/each}}';

/** The wording where a receiver has no templates of its own. */
export const DEFAULT_WORDING: Wording = { consoleUrl: null, title: known(DEFAULT_TITLE), text: known(DEFAULT_TEXT) };

function known(source: string): Template {
  const parsed: ParsedTemplate = parseTemplate(source);
  if (parsed.kind === 'problem') throw new TypeError(parsed.problem);
  return parsed.template;
}

export interface Worded {
  /** One line. */
  readonly title: string;
  readonly text: string;
}

export function wordsOf({ title, text, consoleUrl }: Wording, notification: Notification): Worded {
  return {
    title: oneLine(renderTemplate(title, notification, consoleUrl), TITLE_CHARACTERS_MAX),
    text: renderTemplate(text, notification, consoleUrl).trim(),
  };
}
