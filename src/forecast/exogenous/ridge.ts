export interface RidgeFit {
  /** One for each column. */
  readonly weights: Float64Array;
  /** Sum of squares when each row in turn is left out. */
  readonly error: number;
}

/** Penalties that are tried, as multiples of the mean sum of squares of a column. */
const PENALTIES = [1e-4, 1e-2, 1e-1, 1, 10];

/** A column of which no more is left is one that the others, or rounding, explain. */
const LEFT_MIN = 1e-6;

/** Multiplications between two pauses: some milliseconds. */
const TURN = 4_000_000;

/**
 * Ridge regression whose penalty has the least leave-one-out error, in closed form: e_i / (1 - H_ii), H the hat matrix (Allen 1974, PRESS). There
 * is no effect at all where the error does not fall by log(n) / n, which n rows of chance seldom do (the margin of Schwarz 1978 for one weight).
 * @param columns finite; each as long as the target
 * @param target finite, from which `beside` and the columns are to add up
 * @param beside columns that are fitted without a penalty, and before the others: what they explain is nobody else's (Frisch and Waugh 1933)
 * @param pause lets others have a turn: with many columns each of the steps between takes a while
 */
export async function fitRidge(
  columns: readonly Float64Array[],
  target: Float64Array,
  beside: readonly Float64Array[],
  pause: () => Promise<unknown>,
): Promise<RidgeFit> {
  const rows = target.length;
  const basis = orthonormal(beside);
  const left = leftOf(target, basis);
  const taken = Float64Array.from(target, (_, i) => basis.reduce((sum, own) => sum + own[i] ** 2, 0));
  const none: RidgeFit = { error: leaveOneOutError(left, taken), weights: new Float64Array(columns.length) };
  if (columns.length === 0 || rows < basis.length + 2) return none;
  const own: Float64Array[] = [];
  for (const column of columns) {
    await pause();
    own.push(leftOf(column, basis));
  }
  const gram = await gramOf(own, pause);
  const scale = gram.reduce((sum, row, j) => sum + row[j], 0) / columns.length;
  if (!(scale > LEFT_MIN * rows)) return none;
  const row = new Float64Array(columns.length);
  const moments = Float64Array.from(own, (column) => dot(column, left));
  const accepted = none.error * (1 - Math.log(rows) / rows);
  let best = none;
  for (const penalty of PENALTIES) {
    await pause();
    const factor = cholesky(gram, penalty * scale);
    const weights = solveUpper(factor, solveLower(factor, moments.slice()));
    const residual = left.slice();
    for (const [j, column] of own.entries()) addTo(residual, column, -weights[j]);
    const leverage = taken.slice();
    for (let i = 0; i < rows; i++) {
      if (i % Math.ceil(TURN / columns.length ** 2) === 0) await pause();
      for (let j = 0; j < columns.length; j++) row[j] = own[j][i];
      const half = solveLower(factor, row);
      leverage[i] += dot(half, half);
    }
    const error = leaveOneOutError(residual, leverage);
    if (error < accepted && error < best.error) best = { error, weights };
  }
  return best;
}

async function gramOf(columns: readonly Float64Array[], pause: () => Promise<unknown>): Promise<Float64Array[]> {
  const gram = columns.map(() => new Float64Array(columns.length));
  for (const [i, left] of columns.entries()) {
    await pause();
    for (let j = 0; j <= i; j++) gram[i][j] = gram[j][i] = dot(left, columns[j]);
  }
  return gram;
}

function leaveOneOutError(residual: Float64Array, leverage: Float64Array): number {
  return residual.reduce((sum, missed, i) => sum + (missed / (1 - leverage[i])) ** 2, 0);
}

/** Columns of length 1 at right angles that span the same; those that the ones before them explain are left out (Gram and Schmidt). */
function orthonormal(columns: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const column of columns) {
    const own = leftOf(column, basis);
    const squares = dot(own, own);
    if (squares > LEFT_MIN * dot(column, column)) basis.push(own.map((value) => value / Math.sqrt(squares)));
  }
  return basis;
}

/** What an orthonormal basis does not explain. */
function leftOf(column: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const left = column.slice();
  for (const own of basis) addTo(left, own, -dot(own, left));
  return left;
}

function addTo(sum: Float64Array, column: Float64Array, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] += weight * column[i];
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i] * right[i];
  return sum;
}

/** Lower factor of `matrix + penalty * I`, row by row. The penalty keeps it positive definite, whatever the columns. */
function cholesky(matrix: readonly Float64Array[], penalty: number): Float64Array[] {
  const factor = matrix.map((row) => new Float64Array(row.length));
  for (let i = 0; i < matrix.length; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i][j] + (i === j ? penalty : 0);
      for (let k = 0; k < j; k++) sum -= factor[i][k] * factor[j][k];
      factor[i][j] = i === j ? Math.sqrt(sum) : sum / factor[j][j];
    }
  }
  return factor;
}

/** Solves L x = b in place. */
function solveLower(factor: readonly Float64Array[], values: Float64Array): Float64Array {
  for (let i = 0; i < values.length; i++) {
    const row = factor[i];
    let sum = values[i];
    for (let k = 0; k < i; k++) sum -= row[k] * values[k];
    values[i] = sum / row[i];
  }
  return values;
}

/** Solves L' x = b in place. */
function solveUpper(factor: readonly Float64Array[], values: Float64Array): Float64Array {
  for (let i = values.length - 1; i >= 0; i--) {
    let sum = values[i];
    for (let k = i + 1; k < values.length; k++) sum -= factor[k][i] * values[k];
    values[i] = sum / factor[i][i];
  }
  return values;
}
