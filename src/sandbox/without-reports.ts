/**
 * ONNX Runtime reports each process, its models and its failures to its maker over the network, unless this is set
 * before its first session. It reads it from the process: what a thread sets is the thread's own.
 */
export const WITHOUT_REPORTS = { ORT_DISABLE_TELEMETRY: '1' } as const;
