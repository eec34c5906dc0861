import { loadTests } from './fixture/one-process.ts';

// They kill and freeze one broker, one after another.
await loadTests('fault/broker');
