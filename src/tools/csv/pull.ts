import type { CsvItem, CsvObservation } from './csv-item.ts';
import { SEPARATORS } from './rows.ts';
import { shortened } from './shortened.ts';

export interface CsvPull {
  readonly observations: AsyncIterable<CsvObservation>;
  readonly refusals: Refusals;
  /** Why the file was not read to its end; empty when it was. */
  readonly problems: readonly string[];
  /** False if the file does not have the columns that were requested. */
  readonly hasColumns: boolean;
}

/** The observations among the items of a file; refusals are counted. `report` is called with remarks about the file. */
export function pullObservations(items: AsyncIterable<CsvItem>, report: (line: string) => void): CsvPull {
  const pull = { refusals: new Refusals(), problems: [] as string[], hasColumns: true };
  return Object.assign(pull, { observations: observations() });

  async function* observations(): AsyncGenerator<CsvObservation> {
    for await (const item of items) {
      switch (item.kind) {
        case 'observation':
          yield item;
          break;
        case 'refused':
          pull.refusals.add(item.line, item.reason);
          break;
        case 'separator':
          report(`The columns are separated by ${SEPARATORS[item.separator]}`);
          break;
        case 'decimal-comma':
          report('Numbers are read with a decimal comma: 1,5 is one and a half');
          break;
        case 'time-unit':
          if (item.detected && item.unit !== 'iso')
            report(`The numbers in the time column are read as ${item.unit} (--time-unit)`);
          break;
        case 'no-time-zone':
          report('Times without a zone are read as UTC (--time-zone)');
          break;
        case 'sorted':
          report(`The rows are sorted by time: line ${item.line} is the first that is older than one before it`);
          break;
        case 'no-columns':
        case 'no-observations':
          pull.hasColumns = item.kind !== 'no-columns';
          pull.problems.push(...item.problems);
          break;
        case 'broken':
          pull.problems.push(`Reading ended early: ${item.reason}`);
          break;
      }
    }
  }
}

const SHOWN_MAX = 10;
/** A reason quotes a field, which may be as long as a record. */
const REASON_CHARACTERS_MAX = 300;

/** Refused rows: the first ones with line and reason, the others counted. */
export class Refusals {
  count = 0;
  readonly #shown: string[] = [];

  add(line: number, reason: string): void {
    this.count++;
    if (this.#shown.length < SHOWN_MAX) this.#shown.push(`  line ${line}: ${shortened(reason, REASON_CHARACTERS_MAX)}`);
  }

  /** Lines to print; none if nothing was refused. */
  lines(): readonly string[] {
    if (this.count === 0) return [];
    const more = this.count - this.#shown.length;
    const rest = more === 0 ? [] : [`  and ${more} more`];
    return [`${this.count} ${this.count === 1 ? 'row was' : 'rows were'} refused:`, ...this.#shown, ...rest];
  }
}
