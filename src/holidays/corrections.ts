/** What the list has wrong, by the law or gazette that says so. */
export interface Correction {
  /** Countries; their regions, too. */
  readonly places: readonly string[];
  /** Rules of the list whose dates are no public holidays. */
  readonly drops?: readonly string[] | 'all';
  /** Rules that are missing, in the grammar of the list, with the names of their days. */
  readonly adds?: Readonly<Record<string, string>>;
  /** First and last date for which this holds. */
  readonly from?: string;
  readonly to?: string;
  readonly source: string;
}

export const CORRECTIONS: readonly Correction[] = [
  {
    places: ['AE'],
    drops: ['27 Rajab', '1 Ramadan'],
    source: 'Cabinet Resolution 27 of 2024, article 1 (before: Cabinet decisions from 2019 on)',
    from: '2019-01-01',
  },
  {
    places: ['AE'],
    adds: { '9 Dhu al-Hijjah': 'Arafah Day', '12-03': 'National Day' },
    source: 'Cabinet Resolution 27 of 2024, article 1',
    from: '2019-01-01',
  },
  {
    places: ['CN'],
    drops: ['06-01'],
    source: 'State Council Order 795 of 2024, article 3: a day for children under 14',
  },
  {
    places: ['CN'],
    adds: { '05-02': '劳动节', 'chinese 01-0-03': '春节' },
    from: '2025-01-01',
    source: 'State Council Order 795 of 2024, article 2',
  },
  {
    places: ['KR'],
    drops: ['korean 01-0-01 P3D'],
    adds: { '1 day before korean 01-0-01 P3D': '설날' },
    source: 'Regulations on Holidays of Public Offices, article 2 no. 4: the eve, New Year and the day after it',
  },
  {
    places: ['UA'],
    drops: 'all',
    from: '2022-03-24',
    source: 'Law 2136-IX, article 6 (6): article 73 of the Labour Code does not apply under martial law',
  },
];
