import { loadTests } from './fixture/runner/one-process.ts';

await loadTests('contract/**/*.test.ts');
