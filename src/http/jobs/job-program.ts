/** What runs in the sandbox of jobs: the models, loaded once, and the tasks. */
import { catalogOf, type Model } from '../../model/catalog.ts';
import { Forecasters } from '../../model/forecaster.ts';
import type { Sandboxed } from '../../sandbox/program.ts';
import { serveModels } from '../served-models.ts';
import type { Tokens } from '../tokens.ts';
import { opened, sealed } from './envelope.ts';
import type { TaskName } from './job.ts';
import { answerTask } from './task-work.ts';

export interface JobSetup {
  readonly models: readonly Model[];
  /** Other names of them. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface JobHeader {
  readonly task: TaskName;
}

export type AnswerHeader =
  | { readonly kind: 'answered'; readonly tokens: Tokens }
  | { readonly kind: 'failed'; readonly error: string };

export const sandboxed: Sandboxed = async (setup) => {
  const { models, aliases }: JobSetup = JSON.parse(Buffer.from(setup).toString());
  // One is enough for one job; the other processors answer those who wait.
  const forecasters = await Forecasters.start(models, { threads: 1 });
  const served = serveModels(catalogOf(models, aliases), forecasters);
  return async (input, { signal }) => {
    const { header, bytes } = opened<JobHeader>(input);
    const answer = await answerTask(header.task, bytes, served, signal);
    if (answer.kind === 'failed') return sealed<AnswerHeader>({ header: answer, bytes: Buffer.alloc(0) });
    const { kind, tokens, result } = answer;
    return sealed<AnswerHeader>({ header: { kind, tokens }, bytes: result });
  };
};
