import { ServiceError } from '../../ops/service-error.ts';
import type { Headroom } from './broker-connection.ts';
import type { Broker } from './cluster.ts';
import { type AnswerFields, decodeAnswer, encodeRequest, type StructFields } from './protocol-fields.ts';

/** Every answer has it: kafkajs delays requests by this field when the broker throttles. */
interface Throttled {
  readonly clientSideThrottleTime: number;
}

interface RequestVersions {
  readonly name: string;
  readonly key: number;
  /** Those that this client knows, in ascending order. */
  readonly versions: readonly number[];
}

/** A request that kafkajs does not have, or in an older version only. */
interface RequestSchema<Request, Answer> extends RequestVersions {
  /** The first version in the compact encoding. */
  readonly compactSince: number;
  readonly request: StructFields<Request>;
  readonly answer: AnswerFields<Answer>;
}

/** The oldest release that has every request that is needed. */
export const OLDEST_KAFKA = 'Kafka 2.5';

/** kafkajs has the same error for a request to a broker whose connection is being opened. */
const NOT_YET_CONNECTED = 'Broker not connected';

/** The newest version of a request that this client and the broker know. Throws a ServiceError if there is none. */
export function versionFor({ versions: known, connectionPool }: Broker, request: RequestVersions): number {
  const { name, key, versions } = request;
  if (known === null) throw new Error(NOT_YET_CONNECTED);
  const { minVersion = 0, maxVersion = -1 } = known[key] ?? {};
  const version = versions.findLast((each) => each >= minVersion && each <= maxVersion);
  if (version !== undefined) return version;
  const has = maxVersion < 0 ? 'does not have it' : `has ${minVersion} to ${maxVersion}`;
  const needed = `Tidewatch needs version ${versions.join(' or ')} of the request ${name}`;
  const text = `${needed}, and the broker at ${connectionPool.host}:${connectionPool.port} ${has}`;
  throw new ServiceError('configuration', `${text}. The oldest release that works is ${OLDEST_KAFKA}`);
}

/**
 * Sends a request in the newest version that both sides know.
 * @param waitMsMax for an answer that takes longer than REQUEST_MS_MAX
 */
export async function sendRequest<Request, Answer extends Throttled>(
  broker: Broker,
  schema: RequestSchema<Request, Answer>,
  request: NoInfer<Request>,
  waitMsMax?: number,
): Promise<Answer> {
  const version = versionFor(broker, schema);
  const encoding = { version, isCompact: version >= schema.compactSince };
  const body = encodeRequest(encoding, schema.request, request);
  const decode = (payload: Buffer) => decodeAnswer(encoding, schema.answer, payload);
  return sendEncoded(broker, { ...schema, version }, body, { decode, waitMsMax });
}

/** Sends a request whose body is encoded already: `whole` from `at` on, and what is before is free. */
export function sendEncoded<Answer extends Throttled>(
  { connectionPool }: Pick<Broker, 'connectionPool'>,
  { name, key, version }: { readonly name: string; readonly key: number; readonly version: number },
  headroom: Headroom,
  { decode, waitMsMax }: { readonly decode: (payload: Buffer) => Answer; readonly waitMsMax?: number | undefined },
): Promise<Answer> {
  const body = headroom.whole.subarray(headroom.at);
  const encode = async () => ({ buffer: body, headroom });
  return connectionPool.send({
    request: { apiKey: key, apiVersion: version, apiName: name, encode },
    response: { decode: async (payload) => decode(payload), parse: async (answer) => answer },
    ...(waitMsMax !== undefined && { requestTimeout: waitMsMax }),
  });
}
