import { InferenceSession } from 'onnxruntime-node';

/** Loads a graph. A run uses its own thread alone: the number of inference threads decides how many cores are used. */
export function openSession(graphPath: string): Promise<InferenceSession> {
  return InferenceSession.create(graphPath, {
    executionProviders: ['cpu'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
  });
}
