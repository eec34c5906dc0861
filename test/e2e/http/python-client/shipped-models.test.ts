import { after } from 'node:test';
import { type RunningCommand, startCommand } from '../../../fixture/command.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';
import { testWithClients } from '../../../fixture/http/client-checks.ts';

const SCRIPT = new URL('./with_shipped_models.py', import.meta.url);
const KEY = 'the-key-that-the-tests-use';
const folder = freshFolder();
let service: RunningCommand | null = null;

after(async () => {
  service?.interrupt();
  await service?.exitCode;
});

await testWithClients(SCRIPT, [SCRIPT], KEY, async () => {
  const env = { DATA_DIR: folder, OPS_PORT: '0', HTTP_PORT: '0', INFERENCE_THREADS: '1', TIDEWATCH_API_KEY: KEY };
  service = startCommand(['serve'], env);
  return (await service.logged('serving')).url;
});
