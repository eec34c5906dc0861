import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createZstdDecompress, zstdDecompress } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import type { AnsweredJob } from '../../../store/jobs.ts';

/** Larger results (compressed size) are streamed. */
const WHOLE_BYTES_MAX = 64 * 1024;

/** Sends a job. Its result is stored as the JSON that is sent. A handler returns what this returns. */
export async function sendJob(reply: FastifyReply, job: AnsweredJob): Promise<FastifyReply> {
  const { id, status, error, result, progress } = job;
  reply.type('application/json; charset=utf-8');
  const start = `{"job_id":${JSON.stringify(id)},"status":${JSON.stringify(status)},"result":`;
  const end = `,"error":${JSON.stringify(error)},"progress":${JSON.stringify(progress)}}`;
  if (result === null) return reply.send(`${start}null${end}`);
  if (result.length <= WHOLE_BYTES_MAX) {
    return reply.send(`${start}${await promisify(zstdDecompress)(result)}${end}`);
  }
  return reply.send(Readable.from(pieces(start, result, end)));
}

async function* pieces(start: string, result: Uint8Array, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start);
  yield* Readable.from([result]).pipe(createZstdDecompress());
  yield Buffer.from(end);
}
