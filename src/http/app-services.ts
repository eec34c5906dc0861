import type { Database } from '../store/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Calls } from './calls.ts';
import type { FinetunedStore } from './finetuned.ts';
import type { JobQueue } from './jobs/job-queue.ts';
import type { KeyRing } from './key-ring.ts';
import type { ServedModels } from './served-models.ts';
import type { BodyBudget } from './wire/read-bytes.ts';

/** What the endpoints work with. */
export interface AppServices {
  /** What outlives the process. Whoever made it closes it, after the application. */
  readonly store: Database;
  readonly keys: KeyRing;
  readonly calls: Calls;
  readonly models: ServedModels;
  readonly finetuned: FinetunedStore;
  readonly jobs: JobQueue;
  readonly nowMs: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'httpRequests' | 'httpRequestSeconds'>;
  /** What the bodies of all requests may hold together. */
  readonly bodies?: BodyBudget;
}
