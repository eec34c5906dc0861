import { loadProcessConfig } from '../../config/load.ts';
import { processOptions } from '../../config/options.ts';
import { openCatalog } from '../../models/catalog.ts';
import { Forecasters } from '../../models/onnx-forecaster.ts';
import { DONE } from '../../tools/terminal/command-io.ts';
import { printProblems, type RunnableCommand } from './command.ts';

/** Lists the models that a detector may name. Each folder is verified and each model is run. */
export const modelsCommand: RunnableCommand = {
  options: [processOptions.modelsDir],
  async run(_operands, flags, io) {
    const loaded = loadProcessConfig(flags, []);
    if (loaded.kind === 'problems') return printProblems(loaded.problems, io);
    const catalog = await openCatalog({ modelsDir: loaded.config.modelsDir });
    const models = catalog.names.map((name) => catalog.get(name));
    const forecasters = await Forecasters.start(models, { threads: 1 });
    await forecasters.close();
    for (const { name, digest, manifest } of models) {
      const { version, context, horizonMax, parameters } = manifest;
      io.out(
        `${name} ${version}  context ${context}, horizon ${horizonMax}, ${parameters} parameters, sha256 ${digest}`,
      );
    }
    if (catalog.aliases.length > 0) {
      io.out(`Also known: ${catalog.aliases.map((alias) => `${alias} (${catalog.get(alias).name})`).join(', ')}`);
    }
    return DONE;
  },
};
