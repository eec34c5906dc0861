import type { Headroom } from './broker-connection.ts';
import type { Broker } from './cluster.ts';
import { type AnswerFields, decodeAnswer, encodeRequest, type StructFields } from './protocol-fields.ts';

/** Every answer has it: kafkajs delays requests by this field when the broker throttles. */
interface Throttled {
  readonly clientSideThrottleTime: number;
}

export interface RequestName {
  readonly name: string;
  readonly key: number;
  readonly version: number;
}

/** A request that kafkajs does not have, or in an older version only. */
export interface RequestSchema<Request, Answer> extends RequestName {
  readonly isCompact: boolean;
  readonly request: StructFields<Request>;
  readonly answer: AnswerFields<Answer>;
}

/** @param waitMsMax for an answer that takes longer than REQUEST_MS_MAX */
export function sendRequest<Request, Answer extends Throttled>(
  broker: Broker,
  schema: RequestSchema<Request, Answer>,
  request: NoInfer<Request>,
  waitMsMax?: number,
): Promise<Answer> {
  const body = { whole: encodeRequest(schema, request), at: 0 };
  return sendEncoded(broker, schema, body, (payload) => decodeAnswer(schema, payload), waitMsMax);
}

/** Sends a request whose body is encoded already: `whole` from `at` on, and what is before is free. */
export function sendEncoded<Answer extends Throttled>(
  { connectionPool }: Broker,
  { name, key, version }: RequestName,
  headroom: Headroom,
  decode: (payload: Buffer) => Answer,
  waitMsMax?: number,
): Promise<Answer> {
  const body = headroom.whole.subarray(headroom.at);
  const encode = async () => ({ buffer: body, headroom });
  return connectionPool.send({
    request: { apiKey: key, apiVersion: version, apiName: name, encode },
    response: { decode: async (payload) => decode(payload), parse: async (answer) => answer },
    ...(waitMsMax !== undefined && { requestTimeout: waitMsMax }),
  });
}
