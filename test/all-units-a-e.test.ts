import { loadTests } from './fixture/runner/one-process.ts';

await loadTests('unit/[a-e]*/**/*.test.ts');
