/** What a process did from the end of its warm-up to the last record. */
export interface Throughput {
  readonly observations: number;
  readonly seconds: number;
  /** Processor time of the process. */
  readonly cpuSeconds: number;
  /** Of it, inside the model. */
  readonly modelCpuSeconds: number;
}

/** Share of the records that is not measured: compilers and caches warm up. */
const WARM_UP = 0.25;

/** Measures from the first commit after the warm-up to the one that reaches `total`. */
export function throughputMeter(total: number, modelCpuMs: () => number, done: (throughput: Throughput) => void) {
  let committed = 0;
  let begin: { observations: number; atMs: number; cpu: NodeJS.CpuUsage; modelMs: number } | null = null;
  return (observations: number) => {
    committed += observations;
    if (begin === null) {
      if (committed < WARM_UP * total) return;
      begin = {
        observations: committed,
        atMs: performance.now(),
        cpu: process.cpuUsage(),
        modelMs: modelCpuMs(),
      };
    } else if (committed === total) {
      const cpu = process.cpuUsage(begin.cpu);
      done({
        observations: committed - begin.observations,
        seconds: (performance.now() - begin.atMs) / 1_000,
        cpuSeconds: (cpu.user + cpu.system) / 1e6,
        modelCpuSeconds: (modelCpuMs() - begin.modelMs) / 1_000,
      });
    }
  };
}
