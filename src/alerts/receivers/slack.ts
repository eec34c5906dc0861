import type { Notification } from '../message/notification.ts';
import { cut, oneLine } from '../message/plain-text.ts';
import { consoleLink, dedupKeyOf } from '../message/subject.ts';
import { type Worded, type Wording, wordsOf } from '../message/wording.ts';
import type { HttpPoster } from '../network/http-post.ts';
import type { ReceiverSettings, TargetOf } from '../routes/receiver-schema.ts';
import { postAlert, type Send } from './receiver.ts';

const HEADER_CHARACTERS_MAX = 150;
const SECTION_CHARACTERS_MAX = 3_000;
const SECTIONS_MAX = 5;
const LINKS_MAX = 10;

export function sendToSlack(
  { wording, timeoutMs }: ReceiverSettings,
  { url }: TargetOf<'slack'>,
  poster: HttpPoster,
): Send {
  return (notification, signal) => {
    const body = JSON.stringify(slackMessage(notification, wordsOf(wording, notification), wording));
    return postAlert({ poster, url, body, timeoutMs, signal });
  };
}

/**
 * A message in blocks of plain text: Slack formats none of it, so that the name of a series can neither mention a
 * channel nor show a link that leads elsewhere. The text next to the blocks is for notifications and is escaped.
 */
export function slackMessage(
  { notices }: Pick<Notification, 'notices'>,
  { title, text }: Worded,
  { consoleUrl }: Pick<Wording, 'consoleUrl'>,
) {
  const plain = (content: string, charactersMax: number) => {
    return { type: 'plain_text', text: cut(content, charactersMax), emoji: false } as const;
  };
  const sections = inParts(text, SECTION_CHARACTERS_MAX)
    .filter((part) => part.trim() !== '')
    .slice(0, SECTIONS_MAX)
    .map((part) => ({ type: 'section' as const, text: plain(part, SECTION_CHARACTERS_MAX) }));
  const subjects = [...new Map(notices.map((notice) => [dedupKeyOf(notice), notice])).values()];
  const links = subjects.slice(0, LINKS_MAX).map((subject) => {
    const link = consoleLink(consoleUrl, subject);
    const name = 'event' in subject ? `event ${subject.event.eventId}` : `incident ${subject.incident.incidentId}`;
    if (link === null) return plain(name, HEADER_CHARACTERS_MAX);
    return { type: 'mrkdwn' as const, text: `<${escapeSlack(link)}|${escapeSlack(oneLine(name))}>` };
  });
  return {
    text: escapeSlack(title.trim() || 'Anomaly'),
    blocks: [
      // A header that is too long would lose what its series differs in.
      title.trim().length <= HEADER_CHARACTERS_MAX
        ? { type: 'header' as const, text: plain(title.trim() || 'Anomaly', HEADER_CHARACTERS_MAX) }
        : { type: 'section' as const, text: plain(title.trim(), SECTION_CHARACTERS_MAX) },
      ...sections,
      { type: 'context' as const, elements: links },
    ],
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** Parts of at most `charactersMax` UTF-16 units, none of which ends in half a character. */
function inParts(text: string, charactersMax: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const isSplit = /[\ud800-\udbff]/.test(text.charAt(at + charactersMax - 1));
    const end = at + charactersMax - (isSplit ? 1 : 0);
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}

/** The three characters that have a meaning in text of Slack. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
