import { loadTests } from './fixture/one-process.ts';

await loadTests('contract');
