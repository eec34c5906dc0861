import { nearestOf } from '../../config/schema/problems.ts';
import type { Notification } from './notification.ts';
import { cut } from './plain-text.ts';
import {
  type FieldScope,
  LABEL_PREFIXES,
  labelField,
  MESSAGE_FIELDS,
  NOTICE_FIELDS,
  readField,
} from './template-fields.ts';

/**
 * A template: text with `{{field}}`, `{{#if field}}…{{else}}…{{/if}}` and `{{#each events}}…{{/each}}`. It is parsed
 * once and has no expressions, so that nothing in a stream can run. The result is plain text; each channel escapes it.
 */
export interface Template {
  readonly nodes: readonly TemplateNode[];
}

type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly name: string }
  | {
      readonly kind: 'if';
      readonly name: string;
      readonly body: readonly TemplateNode[];
      readonly otherwise: readonly TemplateNode[];
    }
  | { readonly kind: 'each'; readonly body: readonly TemplateNode[] };

export type ParsedTemplate =
  | { readonly kind: 'template'; readonly template: Template }
  | { readonly kind: 'problem'; readonly problem: string };

/** Longest template, and deepest nesting of its blocks. */
const TEMPLATE_CHARACTERS_MAX = 16_384;
const DEPTH_MAX = 8;
/** Longest result. A message that is longer is cut. */
export const RENDERED_CHARACTERS_MAX = 32_768;

const KNOWN_FIELDS = 'known fields';
const TAG = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** Open blocks while a template is parsed. */
interface OpenBlock {
  readonly block: 'top' | 'if' | 'each';
  readonly name: string;
  readonly body: TemplateNode[];
  otherwise: TemplateNode[] | null;
}

const openBlock = (block: OpenBlock['block'], name = ''): OpenBlock => ({ block, name, body: [], otherwise: null });

/** Parses a template. A problem is a part of a sentence: `a template with known fields, got {{sereis}}`. */
export function parseTemplate(source: string): ParsedTemplate {
  if (source.length > TEMPLATE_CHARACTERS_MAX) return problem(`at most ${TEMPLATE_CHARACTERS_MAX} characters`);
  const open: OpenBlock[] = [openBlock('top')];
  let end = 0;
  for (const tag of source.matchAll(TAG)) {
    if (tag.index > end) addTo(open, { kind: 'text', text: source.slice(end, tag.index) });
    end = tag.index + tag[0].length;
    const wrong = applyTag(tag[1], open);
    const advice = wrong === KNOWN_FIELDS ? adviceFor(tag[1]) : '';
    if (wrong !== null) return problem(`a template with ${wrong}, got ${tag[0]}${advice}`);
  }
  const rest = source.slice(end);
  if (rest !== '') addTo(open, { kind: 'text', text: rest });
  if (/\{\{|\}\}/.test(source.replace(TAG, ''))) return problem('a template whose {{ and }} belong together');
  if (open.length > 1) return problem(`a template that closes its {{#${open[open.length - 1].block}}}`);
  return { kind: 'template', template: { nodes: open[0].body } };
}

/** Applies a tag to the open blocks; what was expected instead, or null. */
function applyTag(tag: string, open: OpenBlock[]): string | null {
  const top = open[open.length - 1];
  const [word, name = ''] = tag.split(/\s+/, 2);
  if (word === '#if' || word === '#each') {
    if (open.length > DEPTH_MAX) return `at most ${DEPTH_MAX} blocks within each other`;
    if (word === '#if' && !isField(name)) return KNOWN_FIELDS;
    if (word === '#each' && name !== 'events') return '{{#each events}}';
    if (word === '#each' && open.some(({ block }) => block === 'each')) return 'one {{#each events}} at a time';
    open.push(word === '#if' ? openBlock('if', name) : openBlock('each'));
    return null;
  }
  if (word === 'else') {
    if (top.block !== 'if' || top.otherwise !== null) return '{{else}} once within {{#if}}';
    top.otherwise = [];
    return null;
  }
  if (word === '/if' || word === '/each') {
    if (word !== `/${top.block}`) return 'blocks closed in the order in which they were opened';
    open.pop();
    const { body, otherwise } = top;
    if (top.block === 'if') addTo(open, { kind: 'if', name: top.name, body, otherwise: otherwise ?? [] });
    else addTo(open, { kind: 'each', body });
    return null;
  }
  if (!isField(tag)) return KNOWN_FIELDS;
  addTo(open, { kind: 'field', name: tag });
  return null;
}

function addTo(open: readonly OpenBlock[], node: TemplateNode): void {
  const { body, otherwise } = open[open.length - 1];
  (otherwise ?? body).push(node);
}

function isField(name: string): boolean {
  const named = labelField(name);
  if (named !== null) return named.label !== '';
  return Object.hasOwn(NOTICE_FIELDS, name) || Object.hasOwn(MESSAGE_FIELDS, name);
}

/** Which fields there are, and which one an unknown one is probably meant to be. */
function adviceFor(tag: string): string {
  const known = [
    ...Object.keys(NOTICE_FIELDS),
    ...Object.keys(MESSAGE_FIELDS),
    ...Object.keys(LABEL_PREFIXES).map((prefix) => `${prefix}NAME`),
  ];
  const nearest = nearestOf(tag.replace(/^#if\s+/, ''), known);
  return `${nearest === null ? ';' : `; did you mean {{${nearest}}}?`} Known fields: ${known.join(', ')}`;
}

function problem(text: string): ParsedTemplate {
  return { kind: 'problem', problem: text };
}

/**
 * The text of a notification, at most RENDERED_CHARACTERS_MAX characters.
 * @param consoleUrl where the console is; null: events have no link
 */
export function renderTemplate(
  { nodes }: Template,
  notification: Notification,
  consoleUrl: string | null = null,
): string {
  const parts: string[] = [];
  let length = 0;
  const put = (text: string) => {
    if (length <= RENDERED_CHARACTERS_MAX) parts.push(text);
    length += text.length;
  };
  const render = (inner: readonly TemplateNode[], scope: FieldScope): void => {
    for (const node of inner) {
      if (length > RENDERED_CHARACTERS_MAX) return;
      if (node.kind === 'text') put(node.text);
      else if (node.kind === 'field') put(readField(node.name, scope));
      else if (node.kind === 'if') render(readField(node.name, scope) === '' ? node.otherwise : node.body, scope);
      else for (const notice of notification.notices) render(node.body, { ...scope, notice });
    }
  };
  render(nodes, { notification, notice: notification.notices[0], consoleUrl });
  return cut(parts.join(''), RENDERED_CHARACTERS_MAX);
}
