/** The program of the what-if sandbox: scores kept values twice, by the settings as they are and as they would be. */

import { bindToModel, type DetectorModel } from '../detector-models.ts';
import { catalogOf, type Model } from '../model/catalog.ts';
import { Forecasters } from '../model/onnx-forecaster.ts';
import { shareWeights, type TunedWeights } from '../model/tuned-weights.ts';
import type { Sandboxed } from '../sandbox/program.ts';
import { decodeEnvelope } from '../sidecar/jobs/envelope.ts';
import type { KeptValues, RaisedAgain } from '../sidecar/operations/operations.ts';
import { scoreHistory } from '../stream/engine/commit/score-history.ts';
import { detectorOfText } from './kept-values-detector.ts';

export interface WhatIfSetup {
  readonly models: readonly Model[];
  readonly aliases: Readonly<Record<string, string>>;
}

/** Timestamps and values follow, then the weights of a fine-tuned model, if any. */
export interface WhatIfHeader {
  readonly series: string;
  readonly count: number;
  readonly beforeText: string;
  readonly afterText: string;
  /** Name of a fine-tuned model, and of the one below it; null where the detector has none. */
  readonly tuned: { readonly name: string; readonly base: string } | null;
}

export interface WhatIfOutcome {
  readonly observations: number;
  readonly before: RaisedAgain;
  readonly after: RaisedAgain;
}

const WEEK_MS = 7 * 86_400_000;
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT;

export const sandboxed: Sandboxed = async (setup) => {
  const { models, aliases }: WhatIfSetup = JSON.parse(Buffer.from(setup).toString());
  const forecasters = await Forecasters.start(models, { threads: 1 });
  const catalog = catalogOf(models, aliases);
  return async (input, { signal }) => {
    const { header, bytes } = decodeEnvelope<WhatIfHeader>(input);
    const { series, count, beforeText, afterText, tuned } = header;
    // A copy: numbers of an envelope are not aligned.
    const numbers = new Float64Array(new Uint8Array(bytes.subarray(0, 2 * count * NUMBER_BYTES)).buffer);
    const past = { series, timestamps: numbers.subarray(0, count), values: numbers.subarray(count) };
    const byName = new Map<string, DetectorModel>();
    for (const name of [...catalog.names, ...catalog.aliases]) {
      const model = catalog.get(name);
      byName.set(name, { model, weights: null, digest: model.digest });
    }
    if (tuned !== null) {
      const weights: TunedWeights = shareWeights(bytes.subarray(2 * count * NUMBER_BYTES));
      byName.set(tuned.name, { model: catalog.get(tuned.base), weights, digest: weights.digest });
    }
    const raisedBy = async (text: string): Promise<RaisedAgain> => {
      const found = detectorOfText(text, series, byName);
      if (found.kind === 'problems') throw new Error(found.problems.join('; '));
      const bound = bindToModel(found.detector, { catalog, byName }, (...spec) => forecasters.forecasterFor(...spec));
      return raised(past, bound, signal);
    };
    const before = await raisedBy(beforeText);
    const outcome: WhatIfOutcome = { observations: count, before, after: await raisedBy(afterText) };
    return Buffer.from(JSON.stringify(outcome));
  };
};

async function raised(
  { series, timestamps, values }: Omit<KeptValues, 'detectorsText'>,
  bound: ReturnType<typeof bindToModel>,
  signal: AbortSignal,
): Promise<RaisedAgain> {
  const history = Array.from(timestamps, (timestampMs, i) => ({ series, timestampMs, value: values[i] })).filter(
    ({ value }) => Number.isFinite(value),
  );
  const events = new Map<string, RaisedAgain['events'][number]>();
  let alarms = 0;
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const options = {
    ...{ source: 'what-if', detectors: [bound], group: null },
    onScores(scores: readonly { alarm: boolean; timestampMs: number; state: string }[]) {
      for (const { alarm, timestampMs, state } of scores) {
        if (alarm) alarms++;
        if (state !== 'scored') continue;
        firstMs = Math.min(firstMs, timestampMs);
        lastMs = Math.max(lastMs, timestampMs);
      }
    },
    onEvent: (event: RaisedAgain['events'][number]) => void events.set(event.eventId, event),
  };
  await scoreHistory(history, options, signal);
  const weeks = (lastMs - firstMs) / WEEK_MS;
  return { events: [...events.values()], alarms, alarmsPerWeek: weeks > 0 ? alarms / weeks : null };
}
