/** Text of at most so many characters, for messages that quote a file. */
export function shortened(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 3).toWellFormed()}...`;
}
