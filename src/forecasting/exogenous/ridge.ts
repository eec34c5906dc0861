export interface RidgeFit {
  /** Coefficients, one for each column. */
  readonly weights: Float64Array;
  /** Leave-one-out sum of squared errors. */
  readonly error: number;
}

/** Candidate penalties, as multiples of the mean sum of squares of a column. */
const PENALTIES = [1e-4, 1e-2, 1e-1, 1, 10];

/** A column with a smaller share of unexplained variance is collinear, up to rounding. */
const UNEXPLAINED_MIN = 1e-6;

/** Multiplications between two pauses: some milliseconds. */
const PAUSE_AFTER = 4_000_000;

interface RidgeProblem {
  /** Finite; each as long as the target. */
  readonly columns: readonly Float64Array[];
  readonly target: Float64Array;
  /** Columns without a penalty. They are partialled out of the others first (Frisch and Waugh 1933). */
  readonly unpenalised: readonly Float64Array[];
  /** Yields to the event loop. With many columns each step takes long. */
  readonly pause: () => Promise<unknown>;
}

/**
 * Ridge regression whose penalty has the least leave-one-out error, in closed form: e_i / (1 - H_ii), H the hat matrix
 * (Allen 1974, PRESS). All weights are 0 where the error does not fall by a share of log(n) / n, the margin of the BIC
 * for one weight (Schwarz 1978).
 */
export async function fitRidge({ columns, target, unpenalised, pause }: RidgeProblem): Promise<RidgeFit> {
  const rows = target.length;
  const basis = orthonormal(unpenalised);
  const unexplained = residualOf(target, basis);
  const basisLeverage = Float64Array.from(target, (_, i) => basis.reduce((sum, own) => sum + own[i] ** 2, 0));
  const none: RidgeFit = {
    error: leaveOneOutError(unexplained, basisLeverage),
    weights: new Float64Array(columns.length),
  };
  if (columns.length === 0 || rows < basis.length + 2) return none;
  const own: Float64Array[] = [];
  for (const column of columns) {
    await pause();
    own.push(residualOf(column, basis));
  }
  const gram = await gramOf(own, pause);
  const scale = gram.reduce((sum, row, j) => sum + row[j], 0) / columns.length;
  if (!(scale > UNEXPLAINED_MIN * rows)) return none;
  const row = new Float64Array(columns.length);
  const moments = Float64Array.from(own, (column) => dot(column, unexplained));
  const accepted = none.error * (1 - Math.log(rows) / rows);
  let best = none;
  for (const penalty of PENALTIES) {
    await pause();
    const factor = cholesky(gram, penalty * scale);
    const weights = solveUpper(factor, solveLower(factor, moments.slice()));
    const residual = unexplained.slice();
    for (const [j, column] of own.entries()) addTo(residual, column, -weights[j]);
    const leverage = basisLeverage.slice();
    for (let i = 0; i < rows; i++) {
      if (i % Math.ceil(PAUSE_AFTER / columns.length ** 2) === 0) await pause();
      for (let j = 0; j < columns.length; j++) row[j] = own[j][i];
      const half = solveLower(factor, row);
      leverage[i] += dot(half, half);
    }
    const error = leaveOneOutError(residual, leverage);
    if (error < accepted && error < best.error) best = { error, weights };
  }
  return best;
}

/** Columns that others explain, up to rounding. */
export function explainedBy(others: readonly Float64Array[], columns: readonly Float64Array[]): boolean[] {
  const basis = orthonormal(others);
  return columns.map((column) => {
    const own = residualOf(column, basis);
    return dot(own, own) <= UNEXPLAINED_MIN * dot(column, column);
  });
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
  return residual.reduce((sum, error, i) => sum + (error / (1 - leverage[i])) ** 2, 0);
}

/** An orthonormal basis of the columns, without collinear ones (Gram and Schmidt). */
function orthonormal(columns: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const column of columns) {
    const own = residualOf(column, basis);
    const squares = dot(own, own);
    if (squares > UNEXPLAINED_MIN * dot(column, column)) basis.push(own.map((value) => value / Math.sqrt(squares)));
  }
  return basis;
}

/** The component orthogonal to an orthonormal basis. */
function residualOf(column: Float64Array, basis: readonly Float64Array[]): Float64Array {
  const residual = column.slice();
  for (const own of basis) addTo(residual, own, -dot(own, residual));
  return residual;
}

function addTo(sum: Float64Array, column: Float64Array, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] += weight * column[i];
}

function dot(left: Float64Array, right: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < left.length; i++) sum += left[i] * right[i];
  return sum;
}

/** Lower Cholesky factor of `matrix + penalty * I`, row by row. The penalty makes the matrix positive definite. */
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
