import type { Notification } from './notification.ts';
import { oneLineWithEnds } from './plain-text.ts';
import { type ParsedTemplate, parseTemplate, renderTemplate, type Template } from './template.ts';

export interface Wording {
  /** Public address of the console; null: messages have no links. */
  readonly consoleUrl: string | null;
  readonly title: Template;
  readonly text: Template;
}

/** Room for the whole id of a series with labels. */
const TITLE_CHARACTERS_MAX = 500;

const DEFAULT_TITLE =
  '[{{status}}] {{#incidentId}}{{summary}}{{/incidentId}}' +
  '{{^incidentId}}{{kind}} in {{subject}}{{#others}} and {{others}} more{{/others}}{{/incidentId}}';

const INCIDENT_TEXT =
  '[{{type}}] {{summary}}\n' +
  '{{urgency}}, events: {{eventCount}}, since {{startedAt}}, {{goesOn}}' +
  '{{#closeReason}}, {{closeReason}}{{/closeReason}}\n' +
  '{{#origin1}}Candidates for the origin\n1. {{origin1}}\n{{/origin1}}' +
  '{{#origin2}}2. {{origin2}}\n{{/origin2}}{{#origin3}}3. {{origin3}}\n{{/origin3}}' +
  'series: {{members}}\n';

const EVENT_TEXT =
  '[{{type}}] {{name}}: {{summary}}\n' +
  '{{#usual}}usual: {{usual}}{{#distance}}; {{distance}}{{/distance}}\n{{/usual}}' +
  '{{kind}}, {{urgency}}, detector {{detector}}, since {{startedAt}}, {{goesOn}}' +
  '{{#closeReason}}, {{closeReason}}{{/closeReason}}\n' +
  '{{#members}}members: {{members}}\n{{/members}}';

const DEFAULT_TEXT =
  '{{#shared}}all series share {{shared}}\n{{/shared}}' +
  `{{#events}}{{#incidentId}}${INCIDENT_TEXT}{{/incidentId}}{{^incidentId}}${EVENT_TEXT}{{/incidentId}}` +
  '{{#changes}}{{changes}}\n{{/changes}}' +
  '{{#nextStep}}next step: {{nextStep}}\n{{/nextStep}}{{#runbook}}runbook: {{runbook}}\n{{/runbook}}' +
  '{{#link}}{{link}}\n{{/link}}' +
  '{{#acknowledgeLink}}acknowledge: {{acknowledgeLink}}\nmute: {{muteLink}}\n{{/acknowledgeLink}}{{/events}}';

export const DEFAULT_WORDING: Wording = { consoleUrl: null, title: known(DEFAULT_TITLE), text: known(DEFAULT_TEXT) };

function known(source: string): Template {
  const parsed: ParsedTemplate = parseTemplate(source);
  if (parsed.kind === 'problem') throw new TypeError(parsed.problem);
  return parsed.template;
}

export interface Worded {
  readonly title: string;
  readonly text: string;
}

export function wordsOf({ title, text, consoleUrl }: Wording, notification: Notification): Worded {
  return {
    title: oneLineWithEnds(renderTemplate(title, notification, consoleUrl), TITLE_CHARACTERS_MAX),
    text: renderTemplate(text, notification, consoleUrl).trim(),
  };
}
