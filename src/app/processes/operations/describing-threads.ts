import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { DetectorsPort } from '../../../api/operations/operations.ts';

type Described = Awaited<ReturnType<DetectorsPort['describe']>>;

/** A text within the limits of settings takes at most a second. */
const LIMITS = {
  /** Time of one text. */
  msMax: 5_000,
  heapMbMax: 512,
};
type DescribingLimits = Readonly<typeof LIMITS>;
/** Texts whose detectors are kept: the newest one is read at every look at the page. */
const KEPT_MAX = 2;

/**
 * Describes the detectors of texts, each on a thread of its own: a text that is slow to parse delays no other one and
 * is stopped in time.
 */
export function describingThreads(limits: DescribingLimits = LIMITS): DetectorsPort['describe'] {
  const kept = new Map<string, Described>();
  return async (text) => {
    const known = kept.get(text);
    if (known !== undefined) return known;
    const described = await describeOnThread(text, limits);
    // One that was given up is read again when it is sent again.
    if (described.kind === 'detectors') kept.set(text, described);
    for (const oldest of kept.keys()) if (kept.size > KEPT_MAX) kept.delete(oldest);
    return described;
  };
}

async function describeOnThread(text: string, { msMax, heapMbMax }: DescribingLimits): Promise<Described> {
  const worker = new Worker(new URL('./describing-worker.ts', import.meta.url), {
    workerData: text,
    resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
  });
  // One that is given up may still fail.
  worker.on('error', () => undefined);
  const late = AbortSignal.timeout(msMax);
  try {
    const [described] = await once(worker, 'message', { signal: late });
    return described;
  } catch (error) {
    const why = late.aborted ? `not within ${msMax / 1_000} s` : (error as Error).message;
    return { kind: 'problems', problems: [`detectors cannot be read: ${why}; simplify the file`] };
  } finally {
    void worker.terminate();
  }
}
