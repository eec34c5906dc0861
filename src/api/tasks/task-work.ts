import type { Static } from 'typebox';
import type { Work } from '../accounts/metering.ts';
import { type FrequencyProfile, frequencyWarning } from '../models/frequency-profile.ts';
import type { ServedModels } from '../models/served-models.ts';
import type { NewlyTuned } from '../models/tuned-models.ts';
import type { FinetuneAnswer, FinetuneBody } from '../wire/schema/tasks/finetune-schema.ts';
import type { CrossValidationBody } from '../wire/schema/tasks/forecast-schema.ts';
import type { TaskName } from '../wire/task-names.ts';
import { readWholeHistory, readWindows } from './cross-validation/cross-validation-question.ts';
import { runWindows, wholeHistoryAnswer, windowsAnswer } from './cross-validation/cross-validation-run.ts';
import { explain, readExplain } from './explain/explain-task.ts';
import { readFinetune, runFinetune } from './finetune/finetune-task.ts';
import { readForecast } from './forecast/forecast-question.ts';
import { forecastAnswer, runForecast } from './forecast/forecast-run.ts';
import { readHistoricForecast, readInSampleDetection } from './in-sample/in-sample-question.ts';
import { historicForecastAnswer, inSampleDetectionAnswer, runInSample } from './in-sample/in-sample-run.ts';
import { onlineDetectionAnswer } from './online-detection/online-detection-answer.ts';
import { readOnlineDetection } from './online-detection/online-detection-question.ts';
import { runOnlineDetection } from './online-detection/online-detection-run.ts';
import { readSimulate } from './simulate/simulate-question.ts';
import { runSimulate } from './simulate/simulate-run.ts';

interface TaskQuestion extends Omit<Work, 'run'> {
  readonly frequency?: FrequencyProfile;
}

/**
 * A task: its body, which matches its schema, is read into a checked question, and the question is answered. Reading
 * throws an HttpProblem for an invalid request.
 */
function taskOf<B, Q extends TaskQuestion>(
  read: (body: B, models: ServedModels) => Q,
  answer: (question: Q, signal: AbortSignal) => Promise<object>,
): (body: B, models: ServedModels) => Work {
  return (body, models) => workOf(read(body, models), answer);
}

function workOf<Q extends TaskQuestion>(
  question: Q,
  answer: (question: Q, signal: AbortSignal) => Promise<object>,
): Work {
  const { tokens, warning = null, frequency } = question;
  // An unknown frequency is no reason to refuse: clients send names of their own.
  const given = [frequency === undefined ? null : frequencyWarning(frequency), warning].filter((each) => each !== null);
  return {
    tokens,
    warning: given.length === 0 ? null : given.join('; '),
    run: (signal) => answer(question, signal),
  };
}

export const onlineDetectionWork = taskOf(readOnlineDetection, async (question, signal) =>
  onlineDetectionAnswer(question, await runOnlineDetection(question, signal)),
);
export const forecastWork = taskOf(readForecast, async (question, signal) =>
  forecastAnswer(question, await runForecast(question, signal)),
);
export const inSampleDetectionWork = taskOf(readInSampleDetection, async (question, signal) =>
  inSampleDetectionAnswer(question, await runInSample(question, signal)),
);
export const historicForecastWork = taskOf(readHistoricForecast, async (question, signal) =>
  historicForecastAnswer(question, await runInSample(question, signal)),
);
export const explainWork = taskOf(readExplain, explain);
export const simulateWork = taskOf(readSimulate, runSimulate);

const windowsWork = taskOf(readWindows, async (question, signal) =>
  windowsAnswer(question, await runWindows(question, signal)),
);
const wholeHistoryWork = taskOf(readWholeHistory, async (question, signal) =>
  wholeHistoryAnswer(question, await runInSample(question, signal)),
);
export const crossValidationWork = (body: CrossValidationBody, models: ServedModels): Work =>
  (body.full_history ? wholeHistoryWork : windowsWork)(body, models);

/** Takes a fine-tuned model, to be stored when it is charged, and returns its id. */
type KeepTuned = (tuned: NewlyTuned) => Promise<string>;

export const finetuneWork = (body: FinetuneBody, models: ServedModels, keep: KeepTuned): Work =>
  workOf(readFinetune(body, models), async (question, signal) => {
    const id = await keep(await runFinetune(question, signal));
    return { ...question.tokens, finetuned_model_id: id } satisfies Static<typeof FinetuneAnswer>;
  });

/** An asynchronous task: the name of its body in BODY_SCHEMAS, and its work. */
interface TaskWork {
  readonly body: string;
  work(body: unknown, models: ServedModels, keep: KeepTuned): Work;
}

const jobOf = <B>(body: string, work: (body: B, models: ServedModels, keep: KeepTuned) => Work): TaskWork => ({
  body,
  work: (read, models, keep) => work(read as B, models, keep),
});

export const TASK_WORK: Readonly<Record<TaskName, TaskWork>> = {
  anomaly_detection: jobOf('detectionJob', onlineDetectionWork),
  cross_validation: jobOf('crossValidationJob', crossValidationWork),
  explain: jobOf('explainJob', explainWork),
  finetune: jobOf('finetuneJob', finetuneWork),
  forecast: jobOf('forecastJob', forecastWork),
  simulate: jobOf('simulateJob', simulateWork),
};
