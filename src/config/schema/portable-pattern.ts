const SETS: Readonly<Record<string, string>> = { d: '0-9', w: 'A-Za-z0-9_', s: ' \\t\\n\\r\\f\\v' };
const PIECE = /\\[\s\S]|\[\^?|\]|\(\?:|[\s\S]/g;

/**
 * The same pattern without `\d`, `\w`, `\s`, `\S` and `(?:`, which validators of other languages read otherwise or not
 * at all: JSON Schema (2020-12, core, 6.4) recommends literals, sets, quantifiers, anchors, groups and alternatives.
 */
export function portablePattern(source: string): string {
  let isSet = false;
  return source.replaceAll(PIECE, (piece) => {
    if (piece.startsWith('[') && !isSet) isSet = true;
    else if (piece === ']') isSet = false;
    if (piece === '(?:' && !isSet) return '(';
    if (!piece.startsWith('\\')) return piece;
    if (piece === '\\S' && !isSet) return `[^${SETS.s}]`;
    const set = SETS[piece[1]];
    if (set === undefined) return piece;
    return isSet ? set : `[${set}]`;
  });
}
