/** A text as a field of CSV (RFC 4180). */
export function csvField(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** As csvField. Spreadsheets run texts that begin like a formula: those get an apostrophe. */
export function spreadsheetField(text: string): string {
  return csvField(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
}
