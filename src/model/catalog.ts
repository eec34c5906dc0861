import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../service-error.ts';
import { type ModelManifest, readModelFolder } from './manifest.ts';

/** A model that passed its checks. */
export interface Model {
  readonly name: string;
  readonly graphPath: string;
  /** SHA-256 of the graph: states and results made with another digest are not comparable. */
  readonly digest: string;
  readonly manifest: ModelManifest;
}

export interface ModelCatalog {
  /** Names of all models, sorted; aliases are not among them. */
  readonly names: readonly string[];
  /** Other names that `get` takes, sorted. */
  readonly aliases: readonly string[];
  /** The model of a name or an alias. Throws ServiceError `model-unknown`, naming the known ones. */
  get(name: string): Model;
}

export interface CatalogSources {
  /** The operator's folder of model folders; null = none. */
  readonly modelsDir: string | null;
  /** Other names of models. A model's own name goes before an alias; an alias whose model is absent is unknown. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Where the models of this repository lie. */
  readonly pretrainedDir?: string;
}

/** The names that public clients of the compatible API send. */
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
 * Reads and verifies every model folder. A folder that is damaged, two of one name, and one of the operator's that has the name of an alias are refused:
 * throws ServiceError `model-invalid` with the reasons of all of them.
 */
export async function openCatalog(sources: CatalogSources): Promise<ModelCatalog> {
  const aliases = sources.aliases ?? CLIENT_ALIASES;
  const shipped = await modelFolders(sources.pretrainedDir ?? PRETRAINED_DIR);
  const own = sources.modelsDir === null ? [] : await modelFolders(sources.modelsDir);
  const models = new Map<string, Model>();
  const reasons: string[] = [];
  for (const folder of [...shipped, ...own]) {
    try {
      const manifest = await readModelFolder(folder);
      const { name, sha256 } = manifest;
      const taken = models.get(name);
      if (taken !== undefined) {
        reasons.push(`model folder ${folder}: name ${name} is that of the model in ${dirname(taken.graphPath)}`);
      } else if (own.includes(folder) && Object.hasOwn(aliases, name)) {
        reasons.push(`model folder ${folder}: name ${name} is an alias of ${aliases[name]}, which clients rely on`);
      }
      models.set(name, { name, graphPath: join(folder, manifest.graph), digest: sha256, manifest });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      reasons.push(error.message);
    }
  }
  if (reasons.length > 0) throw new ServiceError('model-invalid', reasons.join('\n'));
  return catalogOf([...models.values()], aliases);
}

/** A catalog of models of different names that were verified before. */
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

/** Folders of a folder, sorted. Names that begin with a dot are none of ours. */
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
