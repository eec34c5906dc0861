/** The worker in a process of its own. Reports `restored` when every partition is, then what it measured. */
import type { KafkaConfig, Topics } from '../../../src/config/config.ts';
import { metricReports, timeForecasts } from '../../../src/engine/metric-reports.ts';
import { startWorker } from '../../../src/engine/stream-worker.ts';
import { openCatalog } from '../../../src/models/catalog.ts';
import { Forecasters } from '../../../src/models/onnx-forecaster.ts';
import { createLogger } from '../../../src/ops/logger.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { type BenchSettings, benchStream, FREE_FORECASTER, loadedBenchDetector } from '../bench-detector.ts';
import { benchWorker } from '../bench-worker.ts';
import { childOptions, report, stopAsked } from '../child.ts';
import { PARTITIONS } from '../local-broker.ts';
import { throughputMeter } from './throughput.ts';

export interface EngineOptions extends BenchSettings {
  readonly kafka: KafkaConfig;
  readonly topics: Topics;
  readonly groupId: string;
  readonly model: 'free' | 'tsmodel-1-detection';
  readonly inferenceThreads: number;
  /** Records of the input; 0: nobody asks how fast they were scored. */
  readonly observations: number;
}

const options = childOptions<EngineOptions>();
const { kafka, topics, groupId, model, inferenceThreads, observations } = options;
const stopping = stopAsked();
const stream = benchStream(topics, groupId, options);
const models = model === 'free' ? [] : [(await openCatalog({ modelsDir: null })).get(model)];
const forecasters = models.length === 0 ? null : await Forecasters.start(models, { threads: inferenceThreads });
const metrics = createMetrics({ collectProcess: false });
const forecaster = forecasters?.forecasterFor(models[0].name, options.detectionSize) ?? FREE_FORECASTER;
const reports = metricReports(metrics, createLogger('error'));
const meter = throughputMeter(observations, () => forecasters?.stats().cpuMs ?? 0, report);
let restored = 0;

const worker = await startWorker({
  ...(await benchWorker({ kafka, topics, groupId, limits: { inferenceThreads } })),
  stream,
  detectors: [
    loadedBenchDetector(
      options,
      timeForecasts(forecaster, metrics, () => performance.now()),
    ),
  ],
  reports: {
    ...reports,
    restored(partition, restore) {
      reports.restored(partition, restore);
      if (++restored === PARTITIONS) report('restored');
    },
    committed(partition, commit, tally) {
      reports.committed(partition, commit, tally);
      if (observations > 0) meter(commit.records);
    },
  },
});
const failure = await Promise.race([worker.finished, stopping]);
if (failure) throw failure;
await worker.stop();
await forecasters?.close();
process.disconnect();
