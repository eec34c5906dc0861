/** The thread that reads one text of settings, and ends. */
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { describeDetectors } from './describe-detectors.ts';

assert(parentPort !== null, 'this file is the body of a worker thread');
parentPort.postMessage(describeDetectors(workerData as string));
