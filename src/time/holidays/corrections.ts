/** A correction of the list, by its law or gazette. */
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

/** Full moons and festivals of 2026, which the list has for every year. */
const POYA_DAYS_2026 = [
  ...['01-03', '01-15', '02-01', '02-15', '03-02', '03-21', '04-01', '05-02', '05-28', '05-30', '06-29', '07-29'],
  ...['08-26', '08-27', '09-26', '10-25', '11-08', '11-24', '12-23'],
];

/** Days of rest of Ecuador that are moved to a Monday or Friday. */
const MOVED = 'if tuesday then previous monday if wednesday,thursday then next friday if saturday then previous friday';

export const CORRECTIONS: readonly Correction[] = [
  {
    places: ['AE'],
    drops: ['27 Rajab', '1 Ramadan'],
    adds: { '9 Dhu al-Hijjah': 'Arafah Day', '12-03': 'National Day' },
    from: '2019-01-01',
    source: 'Cabinet Resolution 27 of 2024, article 1; before it the calendars of the Cabinet from 2019 on',
  },
  {
    places: ['AZ'],
    drops: ['03-20', '10-18 and if saturday,sunday then next monday', '11-12', '11-17'],
    adds: { '03-20 P5D': 'Novruz' },
    from: '2007-01-01',
    source: 'Labour Code, article 105 (1) and (2): Novruz has five days, three commemorations are worked',
  },
  {
    places: ['AZ'],
    adds: { '11-08 and if saturday,sunday then next monday': 'Zəfər Günü' },
    from: '2021-01-01',
    source: 'Labour Code, article 105 (2)',
  },
  {
    places: ['BD'],
    drops: ['bengali-revised 4-31', 'bengali-revised 12-3'],
    from: '2024-08-13',
    source: 'Cabinet Division, circular of 16 October 2024: eight national days are cancelled',
  },
  {
    // The festivals of one year.
    places: ['BD'],
    drops: ['05-19', '08-24', '10-08'],
    from: '2020-01-01',
    source: 'Ministry of Public Administration, yearly notification of public holidays: they follow the moon',
  },
  {
    places: ['BG'],
    adds: {
      '12-26': 'Рождество Христово',
      'substitutes 03-03 if saturday,sunday then next monday': 'почивен ден',
      'substitutes 05-06 if saturday,sunday then next monday': 'почивен ден',
      'substitutes 05-24 if saturday,sunday then next monday': 'почивен ден',
      'substitutes 09-06 if saturday,sunday then next monday': 'почивен ден',
      'substitutes 09-22 if saturday,sunday then next monday': 'почивен ден',
      'substitutes 01-01 if saturday,sunday then next monday': 'почивен ден',
      // Of 24 to 26 December, two of which may lie on a weekend.
      'substitutes 12-24 if saturday then next tuesday if sunday then next wednesday': 'почивен ден',
      'substitutes 12-25 if saturday then next monday if sunday then next tuesday': 'почивен ден',
      'substitutes 12-26 if saturday then next monday if sunday then next tuesday': 'почивен ден',
    },
    from: '2017-01-01',
    source: 'Labour Code, article 154 (1) and (2), State Gazette 105 of 2016',
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
    places: ['CY'],
    drops: ['orthodox -47'],
    adds: { 'orthodox -48': 'Καθαρά Δευτέρα', 'orthodox 50': 'Αγίου Πνεύματος' },
    source: 'Public Administration and Personnel Department, public holidays: both are Mondays',
  },
  {
    places: ['DZ'],
    adds: { '2 Shawwal': 'عيد الفطر', '11 Dhu al-Hijjah': 'عيد الأضحى' },
    source: 'Law 63-278, article 1, as amended by Ordinance 68-419',
  },
  {
    places: ['DZ'],
    adds: { '3 Shawwal': 'عيد الفطر', '12 Dhu al-Hijjah': 'عيد الأضحى' },
    from: '2023-06-28',
    source: 'Law 63-278, article 1, as amended in June 2023: three days each',
  },
  {
    // The list has day and month of Guayaquil exchanged.
    places: ['EC'],
    drops: ['09-10', '05-01', '05-24', '08-10', '11-02', '11-03'],
    adds: {
      [`05-01 ${MOVED} if sunday then next monday`]: 'Día del Trabajador',
      [`05-24 ${MOVED} if sunday then next monday`]: 'Batalla de Pichincha',
      [`08-10 ${MOVED} if sunday then next monday`]: 'Primer Grito de Independencia',
      [`10-09 ${MOVED} if sunday then next monday`]: 'Independencia de Guayaquil',
      '11-02 if saturday then previous friday if sunday then next tuesday if wednesday then next friday':
        'Día de los Difuntos',
      '11-03 if saturday then previous thursday if sunday then next monday if wednesday then previous monday':
        'Independencia de Cuenca',
    },
    from: '2017-01-01',
    source: 'Código del Trabajo, article 65, as amended by the Ley de Feriados of December 2016',
  },
  {
    places: ['KR'],
    drops: ['korean 01-0-01 P3D'],
    adds: { '1 day before korean 01-0-01 P3D': '설날' },
    source: 'Regulations on Holidays of Public Offices, article 2 no. 4: the eve, New Year and the day after it',
  },
  {
    places: ['KR'],
    adds: { '05-01': '노동절' },
    from: '2026-01-01',
    source: 'Labor Day Act, as renamed in 2025: a paid holiday',
  },
  {
    places: ['LK'],
    drops: POYA_DAYS_2026,
    from: '2027-01-01',
    source: 'Gazette notification under the Holidays Act 29 of 1971 for 2026: the dates of one year, by the moon',
  },
  {
    places: ['LK'],
    drops: POYA_DAYS_2026,
    to: '2025-12-31',
    source: 'Gazette notification under the Holidays Act 29 of 1971 for 2026',
  },
  {
    places: ['MA'],
    adds: { '2 Shawwal': 'عيد الفطر', '11 Dhu al-Hijjah': 'عيد الأضحى', '13 Rabi al-awwal': 'المولد النبوي' },
    source: 'Decree 2-77-169: two days each in the public sector',
  },
  {
    places: ['MA'],
    adds: { '01-14': 'رأس السنة الأمازيغية' },
    from: '2024-01-01',
    source: 'Decrees of 23 November 2023',
  },
  { places: ['MA'], adds: { '10-31': 'عيد الوحدة' }, from: '2026-01-01', source: 'Decrees 2.26.14 and 2.25.1140' },
  {
    places: ['ME'],
    drops: [
      ...['julian 12-24', 'julian 12-25', 'julian 12-26', 'orthodox -2', '12-24', '12-25', '12-26', 'easter -2'],
      ...['easter 1', '11-01', '1 Shawwal P3D', '10 Dhu al-Hijjah P3D', '15 Nisan P2D', '10 Tishrei P2D'],
    ],
    source: 'Law on the Celebration of Religious Holidays, article 3: leave of the believers of each religion alone',
  },
  {
    places: ['SK'],
    adds: { '05-08': 'Deň víťazstva nad fašizmom', '09-15': 'Sedembolestná Panna Mária' },
    from: '2027-01-01',
    source: 'Act 241/1993 as amended by the consolidation act for 2026: they are worked in that year alone',
  },
  {
    places: ['SV'],
    adds: { '01-01': 'Año Nuevo', '05-10': 'Día de la Madre', '06-17': 'Día del Padre' },
    from: '2016-05-01',
    source: 'Código de Trabajo, article 190',
  },
  {
    places: ['TW'],
    adds: {
      'substitutes 02-28 if Saturday then previous Friday': '和平紀念日',
      'substitutes 04-04 if Saturday then previous Friday': '兒童節',
      'substitutes chinese 05-0-05 if Saturday then previous Friday': '端午節',
      'substitutes chinese 08-0-15 if Saturday then previous Friday': '中秋節',
      'substitutes 10-10 if Saturday then previous Friday': '國慶日',
    },
    from: '2015-01-01',
    source: 'Rules on Memorial Days and Holidays of 2014, article 5-1; now article 6 of the act of 28 May 2025',
  },
  {
    places: ['TW'],
    adds: {
      '1 day before chinese 01-0-00': '小年夜',
      '05-01 and if Saturday then previous Friday if Sunday then next Monday': '勞動節',
      '09-28 and if Saturday then previous Friday if Sunday then next Monday': '孔子誕辰紀念日',
      '10-25 and if Saturday then previous Friday if Sunday then next Monday': '臺灣光復節',
      '12-25 and if Saturday then previous Friday if Sunday then next Monday': '行憲紀念日',
    },
    from: '2025-05-30',
    source: 'Act on Memorial Days and Holidays of 28 May 2025, articles 4 and 5',
  },
  {
    places: ['UA'],
    drops: 'all',
    from: '2022-03-24',
    source: 'Law 2136-IX, article 6 (6): article 73 of the Labour Code does not apply under martial law',
  },
];
