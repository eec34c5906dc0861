import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../ops/service-error.ts';
import { type ModelManifest, readModelFolder } from './manifest.ts';

/** A model folder that passed its checks. */
export interface Model {
  readonly name: string;
  readonly graphPath: string;
  /** SHA-256 of the graph. Scores of models with different digests are not comparable. */
  readonly digest: string;
  readonly manifest: ModelManifest;
}

export interface ModelCatalog {
  /** Names of all models, sorted, without aliases. */
  readonly names: readonly string[];
  /** Aliases that `get` accepts, sorted. */
  readonly aliases: readonly string[];
  /** The model of a name or an alias. Throws ServiceError `model-unknown`, listing the known names. */
  get(name: string): Model;
}

interface CatalogSources {
  /** The operator's folder of model folders; null: none. */
  readonly modelsDir: string | null;
  /** Model names by alias. A model's own name takes precedence; an alias of an absent model is unknown. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Folder of the models of this repository. */
  readonly pretrainedDir?: string;
}

/** Model names that public clients of the compatible API send. */
const CLIENT_ALIASES: Readonly<Record<string, string>> = {
  'timegpt-1': 'tsmodel-1',
  'timegpt-1-long-horizon': 'tsmodel-1-long-horizon',
  'timegpt-2': 'tsmodel-1',
  'timegpt-2-mini': 'tsmodel-1',
  'timegpt-2-pro': 'tsmodel-1',
  'timegpt-2.1': 'tsmodel-2.1',
  azureai: 'tsmodel-1',
};

const PRETRAINED_DIR = fileURLToPath(new URL('./pretrained/', import.meta.url));

/**
 * Reads and verifies every model folder. Throws ServiceError `model-invalid` with all reasons when a folder is damaged,
 * when two have one name, or when one of the operator's has the name of an alias.
 */
export async function openCatalog(sources: CatalogSources): Promise<ModelCatalog> {
  const aliases = sources.aliases ?? CLIENT_ALIASES;
  const shipped = await modelFolders(sources.pretrainedDir ?? PRETRAINED_DIR);
  const operators = sources.modelsDir === null ? [] : await modelFolders(sources.modelsDir);
  const models = new Map<string, Model>();
  const reasons: string[] = [];
  for (const folder of [...shipped, ...operators]) {
    try {
      const manifest = await readModelFolder(folder);
      const { name } = manifest;
      const known = models.get(name);
      if (known !== undefined) {
        reasons.push(`model folder ${folder}: name ${name} is that of the model in ${dirname(known.graphPath)}`);
      } else if (operators.includes(folder) && Object.hasOwn(aliases, name)) {
        reasons.push(`model folder ${folder}: name ${name} is an alias of ${aliases[name]}, which clients rely on`);
      }
      models.set(name, { name, graphPath: join(folder, manifest.graph), digest: manifest.sha256, manifest });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      reasons.push(error.message);
    }
  }
  if (reasons.length > 0) throw new ServiceError('model-invalid', reasons.join('\n'));
  return catalogOf([...models.values()], aliases);
}

/** A catalog of verified models of different names. */
export function catalogOf(verified: readonly Model[], aliases: Readonly<Record<string, string>>): ModelCatalog {
  const models = new Map(verified.map((model) => [model.name, model]));
  const names = [...models.keys()].sort();
  const known = Object.keys(aliases)
    .filter((alias) => models.has(aliases[alias]) && !models.has(alias))
    .sort();
  return {
    names,
    aliases: known,
    get(name) {
      const model = models.get(name) ?? (Object.hasOwn(aliases, name) ? models.get(aliases[name]) : undefined);
      if (model !== undefined) return model;
      throw new ServiceError(
        'model-unknown',
        `no model ${JSON.stringify(name)}; known: ${[...names, ...known].join(', ')}`,
      );
    },
  };
}

/** True if the model is one of this repository, whose tests run its graphs. */
export function isShipped({ graphPath }: Model): boolean {
  return graphPath.startsWith(PRETRAINED_DIR);
}

/** Subfolders, sorted, without hidden ones. */
async function modelFolders(dir: string): Promise<string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true });
    const folders = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith('.'));
    return folders.map((entry) => join(dir, entry.name)).sort();
  } catch (error) {
    throw new ServiceError('model-invalid', `models folder ${dir} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
