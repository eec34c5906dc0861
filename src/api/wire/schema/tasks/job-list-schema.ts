import Type from 'typebox';
import { JOB_STATUSES } from '../../../../store/jobs/job-status.ts';
import { PAGE_SIZE } from '../../page-size.ts';
import { JOB_NAMES } from '../../task-names.ts';
import { UP_TO } from '../integer-texts.ts';
import { NextCursor } from '../query-fields.ts';

export const JobStatusField = Type.Enum([...JOB_STATUSES]);

export const pageFields = (max: keyof typeof UP_TO) => ({
  page_size: Type.Optional(
    Type.String({ pattern: UP_TO[max], description: `Entries per page, at most ${max}. Default: ${PAGE_SIZE}.` }),
  ),
  page_token: Type.Optional(
    Type.String({ maxLength: 128, description: '`next_page_token` of the previous page, with the same filter.' }),
  ),
});

export const JobsQuery = Type.Object({
  ...pageFields(200),
  status: Type.Optional(Type.Array(JobStatusField, { description: 'May be repeated. Default: pending and running.' })),
});

export const Jobs = Type.Object({
  jobs: Type.Array(
    Type.Object({
      job_id: Type.String(),
      task_name: Type.Enum([...JOB_NAMES]),
      status: JobStatusField,
      created_at: Type.String({ format: 'date-time' }),
    }),
    { description: 'Newest first.' },
  ),
  next_page_token: NextCursor,
});
export type Jobs = Type.Static<typeof Jobs>;

const OpenJobs = Type.Object({ pending: Type.Integer(), running: Type.Integer() });
export const OpenJobsByTask = Type.Record(Type.Enum([...JOB_NAMES]), OpenJobs);
