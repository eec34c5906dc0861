/** A linear fit: target ~ intercept + sum of weight * column. */
export interface RidgeFit {
  readonly intercept: number;
  readonly weights: Float64Array;
}

interface Candidate {
  readonly error: number;
  readonly weights: Float64Array;
}

/** Penalties that are tried, as multiples of the number of rows (standardised columns have squares of that sum). */
const PENALTIES = [1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100];

/**
 * Ridge regression whose penalty has the least leave-one-out error, in closed form: e_i / (1 - H_ii), H the hat matrix with its intercept
 * (Allen 1974, PRESS). No effect at all is one of the candidates.
 * @param columns standardised over the rows, finite; each as long as the target
 * @param target finite
 * @param pause lets others have a turn: with many columns each of the steps between takes a while
 */
export async function fitRidge(
  columns: readonly Float64Array[],
  target: Float64Array,
  pause: () => Promise<unknown>,
): Promise<RidgeFit> {
  const rows = target.length;
  const intercept = rows === 0 ? 0 : target.reduce((sum, value) => sum + value, 0) / rows;
  const centred = target.map((value) => value - intercept);
  const none: Candidate = {
    error: leaveOneOutError(centred, () => 1 / rows),
    weights: new Float64Array(columns.length),
  };
  let best = none;
  if (rows < 3 || columns.length === 0) return { intercept, weights: none.weights };
  await pause();
  const gram = columns.map((left) => Float64Array.from(columns, (right) => dot(left, right)));
  const moments = Float64Array.from(columns, (column) => dot(column, centred));
  const row = new Float64Array(columns.length);
  for (const penalty of PENALTIES) {
    await pause();
    const factor = cholesky(gram, penalty * rows);
    const weights = solveUpper(factor, solveLower(factor, moments.slice()));
    const residual = centred.slice();
    columns.forEach((column, j) => {
      for (let i = 0; i < rows; i++) residual[i]! -= weights[j]! * column[i]!;
    });
    const error = leaveOneOutError(residual, (i) => {
      for (let j = 0; j < columns.length; j++) row[j] = columns[j]![i]!;
      const half = solveLower(factor, row);
      return dot(half, half) + 1 / rows;
    });
    if (error < best.error) best = { error, weights };
  }
  return { intercept, weights: best.weights };
}

function leaveOneOutError(residual: Float64Array, leverage: (row: number) => number): number {
  let sum = 0;
  for (let i = 0; i < residual.length; i++) sum += (residual[i]! / (1 - leverage(i))) ** 2;
  return sum;
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i]! * right[i]!;
  return sum;
}

/** Lower factor of `matrix + penalty * I`, row by row. The penalty keeps it positive definite, whatever the columns. */
function cholesky(matrix: readonly Float64Array[], penalty: number): Float64Array[] {
  const factor = matrix.map((row) => new Float64Array(row.length));
  for (let i = 0; i < matrix.length; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i]![j]! + (i === j ? penalty : 0);
      for (let k = 0; k < j; k++) sum -= factor[i]![k]! * factor[j]![k]!;
      factor[i]![j] = i === j ? Math.sqrt(sum) : sum / factor[j]![j]!;
    }
  }
  return factor;
}

/** Solves L x = b in place. */
function solveLower(factor: readonly Float64Array[], values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const row = factor[i]!;
    let sum = values[i]!;
    for (let k = 0; k < i; k++) sum -= row[k]! * values[k]!;
    values[i] = sum / row[i]!;
  }
  return values;
}

/** Solves L' x = b in place. */
function solveUpper(factor: readonly Float64Array[], values: Float64Array): Float64Array {
  for (let i = values.length - 1; i >= 0; i--) {
    let sum = values[i]!;
    for (let k = i + 1; k < values.length; k++) sum -= factor[k]![i]! * values[k]!;
    values[i] = sum / factor[i]![i]!;
  }
  return values;
}
