/** Between senders of OTLP over gRPC and `receive`. */
import {
  Client,
  credentials,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { statusOf } from '../../src/api/grpc/grpc-status.ts';
import { EXPORT_PATH } from '../../src/api/grpc/otlp-server.ts';
import { HttpProblem } from '../../src/api/wire/problem.ts';
import type { Front, RecordedRequest } from './front.ts';

const asIs = (bytes: Buffer) => bytes;
const serialization = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
const SERVICE = {
  Export: { path: EXPORT_PATH, requestStream: false, responseStream: false, ...serialization },
} as const;
const HEADERS = { 'content-type': 'application/grpc' };

interface Call {
  readonly request: Buffer;
  readonly metadata: Metadata;
}

/** Passes calls on to `target` as they are. Statuses are those that HTTP has for them. */
export async function startGrpcFront(target: string): Promise<Front> {
  const requests: RecordedRequest[] = [];
  let [refusal, left] = [0, 0];
  const client = new Client(target, credentials.createInsecure());
  const pass = ({ request, metadata }: Call, answer: (error: unknown, bytes?: Buffer) => void) => {
    const noted = (httpStatus: number) => requests.push({ headers: HEADERS, body: request, status: httpStatus });
    if (left > 0) {
      left--;
      noted(refusal);
      answer(statusOf(new HttpProblem(refusal, 'refused by the test', { headers: { 'retry-after': '1' } })));
      return;
    }
    metadata.remove('user-agent');
    client.makeUnaryRequest(EXPORT_PATH, asIs, asIs, request, metadata, (error: ServiceError | null, bytes) => {
      noted(error === null ? 200 : error.code === status.INVALID_ARGUMENT ? 400 : 503);
      answer(error, bytes);
    });
  };
  let server = new Server();
  const listen = (port: number) => {
    server = new Server();
    server.addService(SERVICE, { Export: pass as unknown as UntypedHandleCall });
    return new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, found: number) => (error === null ? resolve(found) : reject(error));
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), bound);
    });
  };
  const port = await listen(0);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.forceShutdown();
      client.close();
    },
    leave: async () => server.forceShutdown(),
    return: async () => void (await listen(port)),
    refuse(httpStatus, count) {
      [refusal, left] = [httpStatus, count];
    },
  };
}
