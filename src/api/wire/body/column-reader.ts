import { clampToFloat32 } from '../../../forecasting/float32.ts';
import { type FieldProblem, fieldProblem, PROBLEMS_MAX } from '../problem.ts';
import { shownInput, typeProblem } from '../schema/schema-problems.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Distinct texts of one column. Each needs memory of its own. */
const CATEGORIES_MAX = 1_000_000;

export interface ColumnReading {
  readonly column: Float64Array;
  readonly problems: readonly FieldProblem[];
}

/** A list of values, read as numbers, and where it is in the body. */
export interface NumberColumn extends ColumnReading {
  readonly start: number;
  readonly items: number;
  /** Then `column` is not complete, and the list is to be read as categories. */
  readonly hasText: boolean;
}

/** Reading stops here: more problems are not reported, and millions of them would take long to count. */
export class TooManyProblems extends Error {
  readonly problems: readonly FieldProblem[];

  constructor(problems: readonly FieldProblem[]) {
    super('too many problems');
    this.problems = problems;
  }
}

interface ColumnSettings {
  readonly loc: FieldProblem['loc'];
  /** The type of its values: true for exogenous variables, which may be booleans and texts. */
  readonly exogenous: boolean;
}

/** Values that are not finite as float32 are invalid. Public clients send infinity as the largest float32. */
const isFiniteFloat32 = (value: number) => Number.isFinite(Math.fround(value));

/** Reads a list of numbers; null becomes NaN. */
export function readNumbers(cursor: JsonCursor, { loc, exogenous }: ColumnSettings): NumberColumn {
  cursor.kind();
  const start = cursor.at;
  const column = new Float64Array(cursor.countScalars());
  const problems: FieldProblem[] = [];
  let items = 0;
  let hasText = false;
  const report = (problem: FieldProblem) => {
    problems.push(problem);
    if (problems.length === PROBLEMS_MAX) throw new TooManyProblems(problems);
  };
  cursor.numbers(
    (i, value) => {
      items = i + 1;
      column[i] = clampToFloat32(value);
      if (!isFiniteFloat32(value)) report(notFinite([...loc, i], value));
    },
    (i) => {
      items = i + 1;
      const kind = cursor.kind();
      if (kind === 'null') {
        cursor.readNull();
        column[i] = Number.NaN;
      } else if (kind === 'boolean' && exogenous) column[i] = cursor.readBoolean() ? 1 : 0;
      else if (kind === 'string' && exogenous) {
        hasText = true;
        cursor.skipValue();
      } else report(typeProblem('number', [...loc, i], readInput(cursor)));
    },
  );
  return { start, items, hasText, column: column.subarray(0, items), problems };
}

function notFinite(loc: FieldProblem['loc'], input: number): FieldProblem {
  return { loc, msg: 'Input should be a finite number of 32 bits', type: 'finite_number', input };
}

/** A scalar as it is echoed to the client; undefined for others. */
function readInput(cursor: JsonCursor): unknown {
  const kind = cursor.kind();
  if (kind === 'string') return shownInput(cursor.readString());
  if (kind === 'boolean') return cursor.readBoolean();
  cursor.skipValue();
  return undefined;
}

/** Assigns codes to categories: the same code in history and future. */
export class CategoryReader {
  readonly #codes = new Map<string, number>();

  read(cursor: JsonCursor, { start, items }: NumberColumn, loc: FieldProblem['loc']): ColumnReading {
    const column = new Float64Array(items);
    const problems: FieldProblem[] = [];
    let tooMany = false;
    cursor.at = start;
    cursor.items((i) => {
      const category = readCategory(cursor);
      if (category === undefined) {
        problems.push(typeProblem('number', [...loc, i], undefined));
        if (problems.length === PROBLEMS_MAX) throw new TooManyProblems(problems);
      } else if (category === null) column[i] = Number.NaN;
      else {
        const code = this.#codes.get(category) ?? this.#codes.size;
        tooMany ||= code >= CATEGORIES_MAX;
        if (!tooMany) this.#codes.set(category, code);
        column[i] = code;
      }
    });
    if (tooMany) problems.push(fieldProblem(loc, `a variable has more than ${CATEGORIES_MAX} categories`));
    return { column, problems };
  }
}

/** null for a missing value, undefined for an invalid one. */
function readCategory(cursor: JsonCursor): string | null | undefined {
  switch (cursor.kind()) {
    case 'string':
      return cursor.readString();
    case 'number':
      return String(cursor.readNumber());
    case 'boolean':
      return String(cursor.readBoolean());
    case 'null':
      return cursor.readNull();
    default:
      cursor.skipValue();
      return undefined;
  }
}
