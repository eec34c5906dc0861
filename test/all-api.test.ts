import { loadTests } from './fixture/runner/one-process.ts';

await loadTests('api/**/*.test.ts');
