import { type DetectorConfig, settingsDigest } from '../config/config.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Forecaster } from '../forecasting/forecaster.ts';
import type { Model, ModelCatalog } from '../models/catalog.ts';
import type { Forecasters } from '../models/onnx-forecaster.ts';
import { shareWeights, type TunedWeights } from '../models/tuned-weights.ts';
import { weightCount } from '../models/tuning-graphs.ts';
import { ServiceError } from '../ops/service-error.ts';
import type { Database } from '../store/database/database.ts';
import { openDatabase, weightsFolder } from '../store/database/open-store.ts';
import { type FinetunedModelRecord, findFinetunedModels } from '../store/models/finetuned-models.ts';
import { FinetunedWeights } from '../store/models/finetuned-weights.ts';
import { type LoadedDetector, loadedDetector } from './unit/loaded-detector.ts';

/** The model of a detector, or fine-tuned weights of it. */
export interface DetectorModel {
  readonly model: Model;
  /** null: the weights of the model itself. */
  readonly weights: TunedWeights | null;
  /** Scores of different digests are not comparable. */
  readonly digest: string;
  /** States of different digests are not continued. */
  readonly stateDigest: string;
}

export interface DetectorModels {
  readonly catalog: ModelCatalog;
  /** Every name that a detector may use. */
  readonly byName: ReadonlyMap<string, DetectorModel>;
}

/**
 * All models of the catalog, and the fine-tuned models of the store that detectors name. Their weights are loaded.
 * Throws a ServiceError for one that cannot be used.
 */
export async function findDetectorModels(loaded: LoadedConfig, catalog: ModelCatalog): Promise<DetectorModels> {
  const byName = catalogModels(catalog);
  const missing = new Set(loaded.stream.detectors.map(({ model }) => model).filter((name) => !byName.has(name)));
  if (missing.size === 0) return { catalog, byName };
  const place = { dataDir: loaded.dataDir, url: loaded.storeUrl };
  const database = await openDatabase(place);
  try {
    const kept = new FinetunedWeights(database, weightsFolder(place));
    for (const name of missing) {
      const found = await loadFinetuned(name, { database, kept, catalog });
      if (found !== null) byName.set(name, found);
    }
  } finally {
    await database.close();
  }
  return { catalog, byName };
}

/** The models of a catalog, by name and alias. */
export function catalogModels(catalog: ModelCatalog): Map<string, DetectorModel> {
  const named = [...catalog.names, ...catalog.aliases].map((name) => [name, catalog.get(name)] as const);
  return new Map(named.map(([name, model]) => [name, pretrained(model)]));
}

function pretrained(model: Model): DetectorModel {
  return { model, weights: null, digest: model.digest, stateDigest: model.manifest.state ?? model.digest };
}

export function tunedModel(model: Model, weights: TunedWeights): DetectorModel {
  return { model, weights, digest: weights.digest, stateDigest: weights.digest };
}

/** null if there is no fine-tuned model of this id. Throws a ServiceError for one that cannot be used. */
export async function loadFinetuned(
  id: string,
  { database, kept, catalog }: { database: Database; kept: FinetunedWeights; catalog: ModelCatalog },
): Promise<DetectorModel | null> {
  const records = await findFinetunedModels(database, id);
  if (records.length === 0) return null;
  if (records.length > 1) {
    const found = `${records.length} owners of keys have a fine-tuned model ${id}`;
    throw new ServiceError('configuration', `${found}; a detector needs one whose id is its own`);
  }
  const [record] = records as [FinetunedModelRecord];
  const known = catalog.names.includes(record.model) ? catalog.get(record.model) : null;
  const tuning = known?.manifest.tuning ?? null;
  if (known === null || tuning === null || record.bytes !== weightCount(tuning) * Float32Array.BYTES_PER_ELEMENT) {
    const found = `fine-tuned model ${id} was tuned from another version of ${record.model} than is installed`;
    throw new ServiceError('configuration', `${found}; fine-tune it again`);
  }
  const weights = shareWeights(await kept.read(record));
  return tunedModel(known, weights);
}

/** A detector with its model, ready to score. */
export function loadDetector(
  detector: DetectorConfig,
  models: DetectorModels,
  forecasterFor: (...spec: Parameters<Forecasters['forecasterFor']>) => Forecaster,
): LoadedDetector {
  const found = models.byName.get(detector.model)!;
  const forecaster = forecasterFor(found.model.name, detector.settings.h, found.weights);
  return loadedDetector(detector, { ...found, forecaster }, settingsDigest(detector));
}

/** The pretrained models of these detectors. */
export function pretrainedModels(detectors: readonly DetectorConfig[], { byName }: DetectorModels): Model[] {
  return detectors.map(({ model }) => byName.get(model)!.model);
}
