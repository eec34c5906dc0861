import mustache from 'mustache';
import { nearestOf } from '../../config/schema/problems.ts';
import type { Notice, Notification } from './notification.ts';
import { cut } from './plain-text.ts';
import {
  type FieldScope,
  LABEL_PREFIXES,
  labelField,
  MESSAGE_FIELDS,
  NOTICE_FIELDS,
  readField,
} from './template-fields.ts';

/** A Mustache template without partials, unescaped tags or other delimiters. The result is plain text. */
export interface Template {
  readonly source: string;
  readonly tokens: readonly Token[];
}

/** As Mustache parses it: kind, name or text, start, end, and the tokens of a section. */
type Token = readonly [kind: string, value: string, start: number, end: number, inner?: readonly Token[]];

export type ParsedTemplate =
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'problem'; readonly problem: string };

/** Longest template, and deepest nesting of its sections. */
const TEMPLATE_CHARACTERS_MAX = 16_384;
const DEPTH_MAX = 8;
/** Longest result. A message that is longer is cut. */
export const RENDERED_CHARACTERS_MAX = 32_768;

/** The section that is repeated for each event or incident of the message. */
const EVENTS = 'events';

/** Parses a template. A problem is a part of a sentence: `a Mustache template with known fields, got {{sereis}}`. */
export function parseTemplate(source: string): ParsedTemplate {
  if (source.length > TEMPLATE_CHARACTERS_MAX) return problem(`at most ${TEMPLATE_CHARACTERS_MAX} characters`);
  try {
    const tokens = mustache.parse(source) as unknown as readonly Token[];
    const wrong = wrongIn(tokens, []);
    return wrong === null
      ? { kind: 'template', template: { source, tokens } }
      : problem(`a Mustache template with ${wrong}`);
  } catch (error) {
    return problem(
      `a Mustache template, got ${(error as Error).message}${HANDLEBARS_TAG.test(source) ? HANDLEBARS : ''}`,
    );
  }
}

/** Returns what was expected instead of the first wrong tag; null if all are known. */
function wrongIn(tokens: readonly Token[], open: readonly string[]): string | null {
  if (open.length > DEPTH_MAX) return `at most ${DEPTH_MAX} sections within each other`;
  for (const [kind, name, , , inner] of tokens) {
    const tag = `{{${kind === 'name' ? '' : kind}${name}}}`;
    if (kind === 'text' || kind === '!') continue;
    if (!['name', '#', '^'].includes(kind)) return `{{field}}, {{#field}} and {{^field}} only, got ${tag}`;
    if (inner !== undefined && name === EVENTS && open.includes(EVENTS)) return 'one {{#events}} at a time';
    if (!(inner !== undefined && name === EVENTS) && !isField(name))
      return `known fields, got ${tag}${adviceFor(name)}`;
    const wrong = inner === undefined ? null : wrongIn(inner, [...open, name]);
    if (wrong !== null) return wrong;
  }
  return null;
}

function isField(name: string): boolean {
  const named = labelField(name);
  if (named !== null) return named.label !== '';
  return Object.hasOwn(NOTICE_FIELDS, name) || Object.hasOwn(MESSAGE_FIELDS, name);
}

const HANDLEBARS_TAG = /\{\{\s*[#^/]?\s*(?:if|unless|each|else|with)\b/;
const HANDLEBARS =
  '; in Mustache {{#if field}} is {{#field}}, {{/if}} is {{/field}}, {{else}} is {{/field}}{{^field}}, ' +
  '{{#each events}} is {{#events}}';

/** Names the fields, and the one that an unknown one is probably meant to be. */
function adviceFor(name: string): string {
  if (HANDLEBARS_TAG.test(`{{${name}`)) return HANDLEBARS;
  const known = [
    ...Object.keys(NOTICE_FIELDS),
    ...Object.keys(MESSAGE_FIELDS),
    ...Object.keys(LABEL_PREFIXES).map((prefix) => `${prefix}NAME`),
  ];
  const nearest = nearestOf(name, known);
  return `${nearest === null ? ';' : `; did you mean {{${nearest}}}?`} Known fields: ${known.join(', ')}`;
}

function problem(text: string): ParsedTemplate {
  return { kind: 'problem', problem: text };
}

/** Reads names of a template as fields, so that no property of an object can be read by its name. */
class FieldContext extends mustache.Context {
  readonly #scope: FieldScope;

  constructor(scope: FieldScope) {
    super(scope);
    this.#scope = scope;
  }

  override lookup(name: string): string | readonly Notice[] {
    return name === EVENTS ? this.#scope.notification.notices : readField(name, this.#scope);
  }

  /** @param view a notice of `{{#events}}`, or the text of a field whose section is rendered */
  override push(view: Notice | string): FieldContext {
    return typeof view === 'string' ? this : new FieldContext({ ...this.#scope, notice: view });
  }
}

/**
 * Renders a notification as text of at most RENDERED_CHARACTERS_MAX characters.
 * @param consoleUrl public address of the console; null: events have no link
 */
export function renderTemplate(
  { source, tokens }: Template,
  notification: Notification,
  consoleUrl: string | null = null,
): string {
  let left = RENDERED_CHARACTERS_MAX;
  const bounded = (text: string) => {
    const fits = left > 0;
    left -= text.length;
    return fits ? text : '';
  };
  const context = new FieldContext({ notification, notice: notification.notices[0], consoleUrl });
  const writer = new mustache.Writer();
  const text = writer.renderTokens(tokens as unknown as string[][], context, undefined, source, { escape: bounded });
  return cut(text, RENDERED_CHARACTERS_MAX);
}
