/** Settings of detectors as they stand in a detectors file (YAML). */

/** Settings by their names in the file; an empty text takes one out, so that its default counts. */
export type ChangedSettings = Readonly<Record<string, string>>;

/**
 * The file with some settings of one detector changed, everything else and every comment as it was. null where the
 * detector is not written line by line: then a person changes the file.
 */
export function withSettings(text: string, detector: string, changes: ChangedSettings): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => nameOf(line) === detector);
  if (start < 0) return null;
  const indent = lines[start].search(/[^\s-]/);
  let end = start + 1;
  while (end < lines.length && (isBlank(lines[end]) || lines[end].search(/\S/) >= indent)) end++;
  // Comments and empty lines at the end belong to what follows.
  while (isBlank(lines[end - 1])) end--;
  const block = lines.slice(start, end);
  for (const [name, value] of Object.entries(changes)) {
    const at = block.findIndex((line) => line.slice(indent).startsWith(`${name}:`) && isMargin(line, indent));
    const comment = at < 0 ? '' : (/\s#.*$/.exec(block[at])?.[0] ?? '');
    if (value === '') {
      if (at > 0) block.splice(at, 1);
      continue;
    }
    const written = `${' '.repeat(indent)}${name}: ${scalarOf(value)}${comment}`;
    if (at < 0) block.push(written);
    else block[at] = written;
  }
  return [...lines.slice(0, start), ...block, ...lines.slice(end)].join('\n');
}

const isBlank = (line: string) => /^\s*(?:#.*)?$/.test(line);
const isMargin = (line: string, indent: number) => /^[\s-]*$/.test(line.slice(0, indent));

/** The name that a line gives a detector: `- name: web`. */
function nameOf(line: string): string | null {
  const [, quoted, plain] = /^\s*-\s+name:\s*(?:["']([^"']*)["']|([^#]*?))\s*(?:#.*)?$/.exec(line) ?? [];
  return quoted ?? plain ?? null;
}

/** Plain where YAML reads it as the same text, quoted otherwise. */
function scalarOf(value: string): string {
  return /^[\w./%-]+(?: [\w./%-]+)*$/.test(value) ? value : JSON.stringify(value);
}
