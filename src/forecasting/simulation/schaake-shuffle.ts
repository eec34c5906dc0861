/**
 * The Schaake shuffle (Clark and others 2004): the values of a step are given to the paths in the order that windows of
 * the history have at that step. So each step keeps its marginal distribution, and the paths have the rank correlation
 * of the history, over time and, where series share windows, between series.
 */

/**
 * The window of each path, in random order: each is drawn again only after all others.
 * @param windows at least one
 */
export function dealWindows(windows: Uint32Array, count: number, random: () => number): Uint32Array {
  const deck = windows.slice();
  return Uint32Array.from({ length: count }, (_, path) => {
    const at = path % deck.length;
    const other = at + Math.floor(random() * (deck.length - at));
    [deck[at], deck[other]] = [deck[other], deck[at]];
    return deck[at];
  });
}

/**
 * The paths in the order of what their windows have at a step; in random order where that is equal.
 * @param windows of the paths, by distance from the end of the history
 */
export function pathOrder(
  history: Float64Array,
  windows: Uint32Array,
  step: number,
  random: () => number,
): Uint32Array {
  const { length } = windows;
  const [keys, ties, order] = [new Float64Array(length), new Float64Array(length), new Uint32Array(length)];
  for (let path = 0; path < length; path++) {
    keys[path] = history[history.length - windows[path] + step];
    ties[path] = random();
    order[path] = path;
  }
  return order.sort((a, b) => keys[a] - keys[b] || ties[a] - ties[b]);
}
