import Type from 'typebox';
import { JOB_STATUSES } from '../../../store/job-status.ts';
import { TASK_NAMES } from '../task-names.ts';

export const JobStatusField = Type.Enum([...JOB_STATUSES]);

/** Must be a power of ten. */
const PAGE_SIZE_MAX = 1_000;
export const JOBS_PAGE_SIZE = 100;

export const JobsQuery = Type.Object({
  page_size: Type.Optional(
    Type.String({
      pattern: `^([1-9]\\d{0,${String(PAGE_SIZE_MAX).length - 2}}|${PAGE_SIZE_MAX})$`,
      description: `Jobs per page, at most ${PAGE_SIZE_MAX}. Default: ${JOBS_PAGE_SIZE}.`,
    }),
  ),
  page_token: Type.Optional(Type.String({ maxLength: 64, description: '`next_page_token` of the previous page.' })),
});

export const Jobs = Type.Object({
  jobs: Type.Array(
    Type.Object({
      job_id: Type.String(),
      task_name: Type.Enum([...TASK_NAMES]),
      status: JobStatusField,
      created_at: Type.String({ format: 'date-time' }),
    }),
    { description: 'Newest first.' },
  ),
  next_page_token: Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'null on the last page.' }),
});
export type Jobs = Type.Static<typeof Jobs>;

const OpenJobs = Type.Object({ pending: Type.Integer(), running: Type.Integer() });
export const OpenJobsByTask = Type.Record(Type.Enum([...TASK_NAMES]), OpenJobs);
