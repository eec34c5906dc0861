/** True if standard output is a terminal that shows colours, and NO_COLOR is not set. */
export function stdoutTakesColour(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb';
}
