import type { Static } from 'typebox';
import type { Work } from '../accounts/metering.ts';
import { type FrequencyProfile, frequencyWarning } from '../models/frequency-profile.ts';
import type { NewlyTuned } from '../models/prepared-model.ts';
import type { ServedModels } from '../models/served-models.ts';
import type { ExplainBody } from '../wire/schema/explain-schema.ts';
import type { FinetuneAnswer, FinetuneBody } from '../wire/schema/finetune-schema.ts';
import type { CrossValidationBody, ForecastBody } from '../wire/schema/forecast-schema.ts';
import type { HistoricForecastRequest, InSampleDetectionRequest } from '../wire/schema/in-sample-schema.ts';
import type { OnlineDetectionBody } from '../wire/schema/online-detection-schema.ts';
import type { SimulateBody } from '../wire/schema/simulate-schema.ts';
import type { TaskName } from '../wire/task-names.ts';
import { wholeHistoryAnswer, windowsAnswer } from './cross-validation/cross-validation-answer.ts';
import { readWholeHistory, readWindows } from './cross-validation/cross-validation-question.ts';
import { runWindows } from './cross-validation/cross-validation-run.ts';
import { explain, readExplain } from './explain/explain-task.ts';
import { readFinetune } from './finetune/finetune-question.ts';
import { runFinetune } from './finetune/finetune-run.ts';
import { forecastAnswer } from './forecast/forecast-answer.ts';
import { readForecast } from './forecast/forecast-question.ts';
import { runForecast } from './forecast/forecast-run.ts';
import { historicForecastAnswer, inSampleDetectionAnswer } from './in-sample/in-sample-answer.ts';
import { readHistoricForecast, readInSampleDetection } from './in-sample/in-sample-question.ts';
import { runInSample } from './in-sample/in-sample-run.ts';
import { onlineDetectionAnswer } from './online-detection/online-detection-answer.ts';
import { readOnlineDetection } from './online-detection/online-detection-question.ts';
import { runOnlineDetection } from './online-detection/online-detection-run.ts';
import { readSimulate } from './simulate/simulate-question.ts';
import { runSimulate } from './simulate/simulate-run.ts';

/**
 * A task: its body becomes a checked question, the question is run, and the results become an answer. Bodies match
 * their schemas. Throws an HttpProblem for an invalid request.
 */
export function onlineDetectionWork(body: OnlineDetectionBody, models: ServedModels): Work {
  const question = readOnlineDetection(body, models);
  return workOf(question, async (signal) =>
    onlineDetectionAnswer(question, await runOnlineDetection(question, signal)),
  );
}

export function forecastWork(body: ForecastBody, models: ServedModels): Work {
  const question = readForecast(body, models);
  return workOf(question, async (signal) => forecastAnswer(question, await runForecast(question, signal)));
}

export function crossValidationWork(body: CrossValidationBody, models: ServedModels): Work {
  if (body.full_history) {
    const question = readWholeHistory(body, models);
    return workOf(question, async (signal) => wholeHistoryAnswer(question, await runInSample(question, signal)));
  }
  const question = readWindows(body, models);
  return workOf(question, async (signal) => windowsAnswer(question, await runWindows(question, signal)));
}

export function inSampleDetectionWork(body: Static<typeof InSampleDetectionRequest>, models: ServedModels): Work {
  const question = readInSampleDetection(body, models);
  return workOf(question, async (signal) => {
    return inSampleDetectionAnswer(question, await runInSample(question, signal));
  });
}

export function historicForecastWork(body: Static<typeof HistoricForecastRequest>, models: ServedModels): Work {
  const question = readHistoricForecast(body, models);
  return workOf(question, async (signal) => historicForecastAnswer(question, await runInSample(question, signal)));
}

export function explainWork(body: ExplainBody): Work {
  const question = readExplain(body);
  return workOf(question, (signal) => explain(question, signal));
}

export function simulateWork(body: SimulateBody, models: ServedModels): Work {
  const question = readSimulate(body, models);
  return workOf(question, (signal) => runSimulate(question, signal));
}

/** Takes a fine-tuned model, to be stored when it is charged, and returns its id. */
type KeepTuned = (tuned: NewlyTuned) => Promise<string>;

export function finetuneWork(body: FinetuneBody, models: ServedModels, keep: KeepTuned): Work {
  const question = readFinetune(body, models);
  return workOf(question, async (signal) => {
    const id = await keep(await runFinetune(question, signal));
    return { ...question.tokens, finetuned_model_id: id } satisfies Static<typeof FinetuneAnswer>;
  });
}

interface TaskQuestion extends Omit<Work, 'run'> {
  readonly frequency?: FrequencyProfile;
}

/** A frequency that is not known is no reason to refuse: clients send names of their own. */
function workOf({ tokens, warning = null, frequency }: TaskQuestion, run: Work['run']): Work {
  const warnings = [frequency === undefined ? null : frequencyWarning(frequency), warning];
  const given = warnings.filter((each) => each !== null);
  return { tokens, warning: given.length === 0 ? null : given.join('; '), run };
}

/** An asynchronous task: the name of its body in BODY_SCHEMAS, and its work. */
interface TaskWork {
  readonly body: string;
  work(body: unknown, models: ServedModels, keep: KeepTuned): Work;
}

function taskOf<B>(body: string, work: (body: B, models: ServedModels, keep: KeepTuned) => Work): TaskWork {
  return { body, work: (read, models, keep) => work(read as B, models, keep) };
}

export const TASK_WORK: Readonly<Record<TaskName, TaskWork>> = {
  anomaly_detection: taskOf('detectionJob', onlineDetectionWork),
  cross_validation: taskOf('crossValidationJob', crossValidationWork),
  explain: taskOf('explainJob', explainWork),
  finetune: taskOf('finetuneJob', finetuneWork),
  forecast: taskOf('forecastJob', forecastWork),
  simulate: taskOf('simulateJob', simulateWork),
};
