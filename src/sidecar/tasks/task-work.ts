import type { Work } from '../accounts/metering.ts';
import type { ServedModels } from '../models/served-models.ts';
import type { FinetuneBody } from '../wire/schema/finetune-schema.ts';
import type { CrossValidationBody, ForecastBody } from '../wire/schema/forecast-schema.ts';
import type { OnlineDetectionBody } from '../wire/schema/online-detection-schema.ts';
import type { TaskName } from '../wire/task-names.ts';
import { crossValidationWork } from './cross-validation-task.ts';
import { finetuneWork, type KeepTuned } from './finetune-task.ts';
import { forecastWork } from './forecast-task.ts';
import { onlineDetectionWork } from './online-detection-task.ts';

/** A task: the name of its body in BODY_SCHEMAS, and its work. */
interface TaskWork {
  readonly body: string;
  /** The work of the synchronous request. Throws an HttpProblem for an invalid request. */
  work(body: unknown, models: ServedModels, keep: KeepTuned): Work;
}

function taskOf<B>(body: string, work: (body: B, models: ServedModels, keep: KeepTuned) => Work): TaskWork {
  return { body, work: (read, models, keep) => work(read as B, models, keep) };
}

/** All asynchronous tasks. Bodies have been validated against their schemas. */
export const TASK_WORK: Readonly<Record<TaskName, TaskWork>> = {
  anomaly_detection: taskOf<OnlineDetectionBody>('detectionJob', onlineDetectionWork),
  cross_validation: taskOf<CrossValidationBody>('crossValidationJob', crossValidationWork),
  finetune: taskOf<FinetuneBody>('finetuneJob', finetuneWork),
  forecast: taskOf<ForecastBody>('forecastJob', forecastWork),
};
