/** Tables of labelled series and groups, ours and the rivals', by half. */
import type { Figures } from '../bench.ts';
import { type Cell, printTable, rounded } from '../table.ts';
import { type Contestant, OURS } from './contestants.ts';
import { isReported, type LabelledInput } from './labelled-data.ts';
import { type SeriesCard, type SetCard, seriesCard, setCard } from './score-card.ts';

const COLUMNS = ['VUS-PR', 'event F1', 'recall'];

/** The half that is reported, by the key of each contestant. */
export type ReportedCards = ReadonlyMap<string, SetCard>;

/** @param what `series` or `groups` */
export async function labelledScores(
  what: string,
  inputs: readonly LabelledInput[],
  able: readonly Contestant[],
): Promise<ReportedCards> {
  const cardsOf = new Map<Contestant, SeriesCard[]>();
  for (const contestant of able) {
    const scores = await contestant.score(inputs);
    cardsOf.set(
      contestant,
      inputs.map((input, i) => seriesCard(input, scores[i])),
    );
  }
  printHalves(what, cardsOf);
  return new Map(
    [...cardsOf].map(([{ key }, cards]) => [key, setCard(cards.filter(({ input }) => isReported(input)))]),
  );
}

function printHalves(what: string, cardsOf: ReadonlyMap<Contestant, readonly SeriesCard[]>): void {
  const rows = SETS.flatMap(([set, isIn]) =>
    [...cardsOf].map(([{ name }, all]): Cell[] => {
      const cards = all.filter(({ input }) => isIn(input));
      const { falseAlarms, medianDelay, ...scores } = setCard(cards);
      return [set, cards.length, name, ...measures(scores), falseAlarms, medianDelay];
    }),
  );
  printTable(
    `labelled ${what}; recall at one threshold for all, one false alarm in 1,000 rows`,
    [what, 'count', 'detector', ...COLUMNS, 'false alarms', 'median delay'],
    rows,
  );
}

const SETS: readonly [string, (input: LabelledInput) => boolean][] = [
  ['chosen on', (input) => !isReported(input)],
  ['reported', isReported],
  ['all', () => true],
];

function measures({ vusPr, eventF1, recall }: Pick<SetCard, 'vusPr' | 'eventF1' | 'recall'>): number[] {
  return [vusPr, eventF1, recall];
}

/** Under the names of the JSON line: ours as they are, a rival's behind its key. */
export function seriesFigures(cards: ReportedCards): Figures {
  return figuresOf(cards, (prefix, { vusPr, eventF1, recall }) => ({
    [`${prefix}vus_pr`]: rounded(vusPr),
    [`${prefix}event_f1`]: rounded(eventF1),
    [`${prefix}one_threshold_recall`]: rounded(recall),
  }));
}

export function groupFigures(cards: ReportedCards): Figures {
  return figuresOf(cards, (prefix, { vusPr, eventF1, recall }) => ({
    [`${prefix}group_vus_pr`]: rounded(vusPr),
    [`${prefix}group_event_f1`]: rounded(eventF1),
    [`${prefix}group_recall`]: rounded(recall),
  }));
}

function figuresOf(cards: ReportedCards, named: (prefix: string, card: SetCard) => Figures): Figures {
  return Object.assign({}, ...[...cards].map(([key, card]) => named(key === OURS.key ? '' : `${key}_`, card)));
}
