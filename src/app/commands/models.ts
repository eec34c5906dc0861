import { processOptions } from '../../config/options/options.ts';
import { openCatalog } from '../../models/catalog.ts';
import { Forecasters } from '../../models/onnx-forecaster.ts';
import { DONE } from '../../tools/terminal/command-io.ts';
import { command, jsonFlag } from './command.ts';

/** Lists the models that a detector may name. Each folder is verified and each model is run. */
export const modelsCommand = command({
  own: { json: jsonFlag },
  settings: { modelsDir: processOptions.modelsDir },
  async run({ values: { json }, config: { modelsDir } }, io) {
    const catalog = await openCatalog({ modelsDir });
    const models = catalog.names.map((name) => catalog.get(name));
    const forecasters = await Forecasters.start(models, { threads: 1 });
    await forecasters.close();
    const aliasesOf = (name: string) => catalog.aliases.filter((alias) => catalog.get(alias).name === name);
    for (const { name, digest: sha256, manifest } of models) {
      const { version, context, horizonMax, parameters } = manifest;
      if (json) {
        io.out(JSON.stringify({ name, version, aliases: aliasesOf(name), context, horizonMax, parameters, sha256 }));
        continue;
      }
      io.out(
        `${name} ${version}  context ${context}, horizon ${horizonMax}, ${parameters} parameters, sha256 ${sha256}`,
      );
    }
    if (catalog.aliases.length > 0 && !json) {
      io.out(`Also known: ${catalog.aliases.map((alias) => `${alias} (${catalog.get(alias).name})`).join(', ')}`);
    }
    return DONE;
  },
});
