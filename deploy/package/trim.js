/** After `npm ci` in a clone: removes the ONNX Runtime of other platforms, 245 of 980 MB. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BINARIES = fileURLToPath(new URL('../../node_modules/onnxruntime-node/bin/napi-v6', import.meta.url));
const own = join(BINARIES, process.platform, process.arch);

if (existsSync(own)) {
  for (const platform of readdirSync(BINARIES)) {
    for (const arch of readdirSync(join(BINARIES, platform))) {
      const folder = join(BINARIES, platform, arch);
      if (folder !== own) rmSync(folder, { recursive: true });
    }
  }
}
