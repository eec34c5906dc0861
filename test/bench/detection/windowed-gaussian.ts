/** The baseline by which NAB's own results are known: it checks the scorer. */

/** As in NAB: mean and deviation of this many values, moved on by so many at a time. */
const WINDOW = 6_400;
const STEP = 100;
const DEVIATION_MIN = 1e-6;
/** Decimals of a score in NAB's files of results, from which its published figures come. */
const DECIMALS = 12;

/** 1 less the tail probability of each value among those before it. */
export function windowedGaussian(values: Float64Array): Float64Array {
  let [start, end, sum, squares] = [0, 0, 0, 0];
  const origin = values[0];
  return values.map((value, row) => {
    const count = end - start;
    let score = 0;
    if (count > 0) {
      const mean = sum / count;
      const variance = Math.max(0, squares / count - mean ** 2);
      const deviation = Math.sqrt(variance) || DEVIATION_MIN;
      score = 1 - normalTail(Math.abs(value - origin - mean) / deviation);
    }
    const take = (from: number, to: number, sign: 1 | -1) => {
      for (let i = from; i < to; i++) {
        sum += sign * (values[i] - origin);
        squares += sign * (values[i] - origin) ** 2;
      }
    };
    if (count < WINDOW) {
      take(end, end + 1, 1);
      end++;
    } else if (row + 1 - end === STEP) {
      take(end, end + STEP, 1);
      take(start, start + STEP, -1);
      start += STEP;
      end += STEP;
    }
    return Number(score.toFixed(DECIMALS));
  });
}

/** Probability of a standard normal number above `z >= 0`: the continued fraction far out, the series near 0. */
function normalTail(z: number): number {
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z < 3) {
    let term = z;
    let sum = z;
    for (let n = 1; term > 1e-17 * sum; n++) {
      term *= (z * z) / (2 * n + 1);
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let fraction = z;
  for (let n = 60; n >= 1; n--) fraction = z + n / fraction;
  return density / fraction;
}
