/** The program of the sandbox that scores files and kept values. */

import { decodeEnvelope, encodeEnvelope } from '../../api/jobs/envelope.ts';
import type { ModelsSetup } from '../../api/jobs/job-program.ts';
import { catalogModels } from '../../engine/detector-models.ts';
import { catalogOf } from '../../models/catalog.ts';
import { Forecasters } from '../../models/onnx-forecaster.ts';
import type { Sandboxed } from '../../sandbox/program.ts';
import { type BacktestAnswerHeader, type BacktestHeader, scoreBacktest } from './backtest-scoring.ts';
import type { ProblemsHeader, ScoringModels } from './scoring-models.ts';
import { scoreWhatIf, type WhatIfAnswerHeader, type WhatIfHeader } from './what-if-scoring.ts';

export type ScoringHeader = BacktestHeader | WhatIfHeader;
export type ScoringAnswerHeader = ProblemsHeader | BacktestAnswerHeader | WhatIfAnswerHeader;

export const sandboxed: Sandboxed = async (setup) => {
  const { models, aliases }: ModelsSetup = JSON.parse(Buffer.from(setup).toString());
  // The service has checked the models.
  const forecasters = await Forecasters.start(models, { threads: 1, rare: models });
  const catalog = catalogOf(models, aliases);
  const loaded: ScoringModels = {
    catalog,
    byName: catalogModels(catalog),
    forecasterFor: (...wanted) => forecasters.forecasterFor(...wanted),
  };
  return async (input, { signal }) => {
    const { header, bytes } = decodeEnvelope<ScoringHeader>(input);
    const answer =
      header.kind === 'backtest'
        ? await scoreBacktest({ header, bytes }, loaded, signal)
        : await scoreWhatIf({ header, bytes }, loaded, signal);
    return encodeEnvelope<ScoringAnswerHeader>(answer);
  };
};
