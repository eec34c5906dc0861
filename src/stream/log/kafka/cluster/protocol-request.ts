import type { Headroom } from './kafkajs-connections.ts';
import type { Broker } from './kafkajs-internals.ts';
import {
  type AnswerFields,
  FieldReader,
  FieldWriter,
  readFields,
  type StructFields,
  writeFields,
} from './protocol-fields.ts';

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
  /** Only the first fields may be named. */
  readonly answer: AnswerFields<Answer>;
}

export function ask<Request, Answer extends Throttled>(
  broker: Broker,
  schema: RequestSchema<Request, Answer>,
  request: NoInfer<Request>,
): Promise<Answer> {
  const body = { whole: encodeRequest(schema, request), at: 0 };
  return sendEncoded(broker, schema, body, (payload) => decodeAnswer(schema, payload));
}

export function encodeRequest<Request>(
  { isCompact, request }: Pick<RequestSchema<Request, unknown>, 'isCompact' | 'request'>,
  values: NoInfer<Request>,
): Buffer {
  const writer = new FieldWriter(isCompact);
  // Of the header; kafkajs writes what is before.
  writer.tags();
  writeFields(writer, request, values);
  writer.tags();
  return writer.take();
}

export function decodeAnswer<Answer>(
  { isCompact, answer }: Pick<RequestSchema<unknown, Answer>, 'isCompact' | 'answer'>,
  payload: Buffer,
): Answer {
  const reader = new FieldReader(payload, isCompact);
  reader.tags();
  return readFields(reader, answer);
}

/** Sends a request whose body is encoded already: `whole` from `at` on, and what is before is free. */
export function sendEncoded<Answer extends Throttled>(
  { connectionPool }: Broker,
  { name, key, version }: RequestName,
  headroom: Headroom,
  decode: (payload: Buffer) => Answer,
): Promise<Answer> {
  const body = headroom.whole.subarray(headroom.at);
  const encode = async () => ({ buf: body, buffer: body, headroom });
  return connectionPool.send({
    request: { apiKey: key, apiVersion: version, apiName: name, encode },
    response: { decode: async (payload) => decode(payload), parse: async (answer) => answer },
  });
}
