import { loadTests } from './fixture/runner/one-process.ts';

await loadTests('unit/*.test.ts', 'unit/[f-z]*/**/*.test.ts');
