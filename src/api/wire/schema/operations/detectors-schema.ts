import Type from 'typebox';
import { DIAGNOSTIC_KINDS } from '../../../../records/diagnostics/diagnostic.ts';
import { NullableInteger, NullableNumber, NullableText } from '../query-fields.ts';

/** A detectors file may be this long. */
const TEXT_LENGTH_MAX = 1_000_000;

const Setting = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] });

const DetectorAnswer = Type.Object({
  name: Type.String(),
  series: Type.Array(Type.String(), { description: 'Globs over series ids, or matchers of labels.' }),
  group: NullableText('Path of the group in the record, or its labels: {instance,job}.'),
  model: Type.String(),
  settings: Type.Record(Type.String(), Setting, { description: 'Settings by their names in the detectors file.' }),
  series_count: Type.Integer({ description: 'Series that it has scored.' }),
  group_count: Type.Integer(),
  observations: Type.Integer({ description: 'Observations that are kept.' }),
  since: NullableInteger('Event time of the oldest that is kept.'),
  alarms_promised_per_week: NullableNumber(
    'Target of false alarms per week and series (or group); null if alarms are off.',
  ),
  events_per_week: NullableNumber(
    'Actual events per week and series (or group) in the kept scores, to compare with the target, ' +
      'including those of incidents, without silence. null if less than a day was scored.',
  ),
  events: Type.Integer({ description: 'Events that are kept.' }),
  events_true: Type.Integer({ description: 'Events of that time that people confirmed as true: no false alarms.' }),
  events_open: Type.Integer(),
});

const DetectorsVersion = Type.Object({
  version: Type.Integer(),
  saved_at: Type.Integer(),
  saved_by: Type.String({ description: 'Name of the key, or of the file.' }),
  comment: NullableText('Comment on the change.'),
});

const DiagnosticAnswer = Type.Object({
  kind: Type.Enum(DIAGNOSTIC_KINDS),
  detector: NullableText('null if no detector watches the series.'),
  text: Type.String({ description: 'The mismatch, in numbers, and the remedy.' }),
});

export const DetectorsAnswer = Type.Object({
  version: NullableInteger('Version of the published detectors; null if they are those of the file.'),
  text: Type.String({ description: 'The detectors file (YAML).' }),
  can_save: Type.Boolean({ description: 'True if PUT publishes to workers.' }),
  detectors: Type.Array(DetectorAnswer),
  findings: Type.Array(DiagnosticAnswer, { description: 'Settings that watch nothing, or not what was meant.' }),
  versions: Type.Array(DetectorsVersion, { description: 'Newest first.' }),
});
export type DetectorsAnswer = Type.Static<typeof DetectorsAnswer>;

export const DetectorsRequest = Type.Object({
  text: Type.Optional(Type.String({ maxLength: TEXT_LENGTH_MAX, description: 'The whole detectors file (YAML).' })),
  roll_back_to: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Publishes the text of this version again, instead of `text`; 0: of the detectors file.',
    }),
  ),
  base_version: NullableInteger('The version that was changed: another one since then gets 409.'),
  dry_run: Type.Optional(Type.Boolean({ description: 'Only checks and compares. Default: false.' })),
  comment: Type.Optional(Type.String({ maxLength: 500 })),
});

export const DetectorsSaved = Type.Object({
  version: NullableInteger('The version that was published; null for a dry run.'),
  changes: Type.Array(
    Type.Object({
      detector: Type.String(),
      field: Type.String({ description: 'Name of the setting; `detector` if a whole detector is new or removed.' }),
      before: NullableText('null if there was none.'),
      after: NullableText('null if there is none.'),
      starts_over: Type.Boolean({ description: 'Its series are calibrated again.' }),
    }),
  ),
  warnings: Type.Array(Type.String(), { description: 'Globs that take no series, one sentence each.' }),
});
export type DetectorsSaved = Type.Static<typeof DetectorsSaved>;
