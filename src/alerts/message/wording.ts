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
  '[{{status}}] {{kind}} in {{subject}}{{#if others}} and {{others}} more{{/if}}';

const DEFAULT_TEXT =
  '{{#each events}}[{{type}}] {{subject}}: {{summary}}\n' +
  '{{kind}}, {{urgency}}, detector {{detector}}, since {{startedAt}}{{#if endedAt}}, until {{endedAt}}{{/if}}' +
  '{{#if closeReason}}, {{closeReason}}{{/if}}\n' +
  '{{#if members}}members: {{members}}\n{{/if}}{{#if link}}{{link}}\n{{/if}}{{/each}}';

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
