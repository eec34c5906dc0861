import { loadTests } from './fixture/runner/one-process.ts';

// They kill and freeze one broker, one after another.
await loadTests('fault/broker/**/*.test.ts');
