/** The program of the job sandbox: loads the models once, then runs tasks. */
import { catalogOf, type Model } from '../../models/catalog.ts';
import { Forecasters } from '../../models/onnx-forecaster.ts';
import { bytesOfWeights, shareWeights } from '../../models/tuned-weights.ts';
import type { Sandboxed } from '../../sandbox/program.ts';
import type { TokenCount } from '../accounts/token-count.ts';
import { serveModels } from '../models/served-models.ts';
import { type NewlyTuned, tuneInProcess } from '../models/tuned-models.ts';
import type { RequestedTuning, TuningEnd } from '../models/tuning-progress.ts';
import type { TaskName } from '../wire/task-names.ts';
import { answerTask } from './answer-job.ts';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';

export interface ModelsSetup {
  readonly models: readonly Model[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** Header of a job. The request follows, then the weights of its fine-tuned model, if any. */
export interface JobHeader {
  readonly task: TaskName;
  readonly requestBytes: number;
  /** The pretrained base of these weights; null without weights. */
  readonly named: string | null;
}

/** Progress messages of fine-tuning, as JSON. */
export type TuningNews =
  | { readonly kind: 'requested'; readonly requested: RequestedTuning }
  | { readonly kind: 'stepped'; readonly step: number }
  | { readonly kind: 'ended'; readonly end: TuningEnd };

/** Header of an answer. The result follows, then the new weights, if any. */
export type AnswerHeader =
  | {
      readonly kind: 'answered';
      readonly tokens: TokenCount;
      readonly resultBytes: number;
      readonly made: Omit<NewlyTuned, 'weights'> | null;
    }
  | { readonly kind: 'failed'; readonly error: string };

export const sandboxed: Sandboxed = async (setup) => {
  const { models, aliases }: ModelsSetup = JSON.parse(Buffer.from(setup).toString());
  // One thread per job: the other cores serve synchronous requests. The service has checked the models.
  const forecasters = await Forecasters.start(models, { threads: 1, rare: models });
  // Belongs to the running job; a sandbox runs one job at a time.
  let report: (news: TuningNews) => void = () => {};
  const tune = tuneInProcess(models, (requested) => {
    report({ kind: 'requested', requested });
    return {
      stepped: (step) => report({ kind: 'stepped', step }),
      ended: (end) => report({ kind: 'ended', end }),
    };
  });
  const served = serveModels(catalogOf(models, aliases), forecasters, tune);
  return async (input, { signal, progress }) => {
    report = (news) => progress(Buffer.from(JSON.stringify(news)));
    const { header, bytes } = decodeEnvelope<JobHeader>(input);
    const { task, requestBytes, named: model } = header;
    const request = bytes.subarray(0, requestBytes);
    const named = model === null ? null : { model, weights: shareWeights(bytes.slice(requestBytes)) };
    const answer = await answerTask({ task, request, named, signal }, served);
    if (answer.kind === 'failed') return encodeEnvelope<AnswerHeader>({ header: answer, bytes: Buffer.alloc(0) });
    const { kind, tokens, result, made } = answer;
    const answered = { kind, tokens, resultBytes: result.length };
    if (!made) return encodeEnvelope<AnswerHeader>({ header: { ...answered, made: null }, bytes: result });
    const { weights, ...tuned } = made;
    const whole = Buffer.concat([result, bytesOfWeights(weights.theta)]);
    return encodeEnvelope<AnswerHeader>({ header: { ...answered, made: tuned }, bytes: whole });
  };
};
