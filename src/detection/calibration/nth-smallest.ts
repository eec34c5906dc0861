const SAMPLE = new Float64Array(24);
/** Fewer numbers are divided at one from their middle. */
const SAMPLED_MIN = 8 * SAMPLE.length;

/**
 * The n-th smallest number, from 0, of which the first `from` are the smallest; reorders the array (quickselect, Hoare
 * 1961).
 */
export function nthSmallest(numbers: Float64Array, n: number, from: number): number {
  let low = from;
  let high = numbers.length - 1;
  while (low < high) {
    const pivot = high - low < SAMPLED_MIN ? numbers[(low + high) >> 1] : pivotNear(numbers, n, low, high);
    let i = low;
    let j = high;
    while (i <= j) {
      while (numbers[i] < pivot) i++;
      while (numbers[j] > pivot) j--;
      if (i > j) break;
      const swapped = numbers[i];
      numbers[i++] = numbers[j];
      numbers[j--] = swapped;
    }
    if (n <= j) high = j;
    else if (n >= i) low = i;
    else break;
  }
  return numbers[n];
}

/** A number a little nearer to the middle than the n-th, by a sample: what it cuts off is most of them (Floyd 1975). */
function pivotNear(numbers: Float64Array, n: number, low: number, high: number): number {
  const last = SAMPLE.length - 1;
  for (let i = 0; i <= last; i++) {
    const number = numbers[low + Math.floor(((high - low) * i) / last)];
    let at = i;
    for (; at > 0 && SAMPLE[at - 1] > number; at--) SAMPLE[at] = SAMPLE[at - 1];
    SAMPLE[at] = number;
  }
  const rank = Math.round(((n - low) / (high - low)) * last);
  return SAMPLE[rank < last / 2 ? rank + 2 : rank - 2];
}
