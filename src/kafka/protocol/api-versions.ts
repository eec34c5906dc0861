import { ServiceError } from '../../ops/service-error.ts';
import { array, decodeFields, encodeRequest, i16, i32, since, string, struct, tagged } from './protocol-fields.ts';
import { type Broker, OLDEST_KAFKA, sendEncoded } from './protocol-request.ts';

/** Versions of the requests that a broker knows, by api key, and levels of the features of its cluster. */
interface KnownVersions {
  readonly errorCode: number;
  readonly versions: NonNullable<Broker['versions']>;
  readonly features: ReadonlyMap<string, number>;
}

/** 3: Kafka 2.4, with the finalized features of the cluster. A broker that is older answers it as version 0. */
const API_VERSIONS = { name: 'ApiVersions', key: 18, versions: [0, 3] };
const REQUEST = { softwareName: since(3, string, null), softwareVersion: since(3, string, null) };
const ANSWER = {
  errorCode: i16,
  requests: array(struct({ key: i16, minVersion: i16, maxVersion: i16 })),
  clientSideThrottleTime: since(1, i32, 0),
  features: tagged(2, array(struct({ name: string, level: i16, levelMin: i16 })), []),
};
const SOFTWARE = { softwareName: 'tidewatch', softwareVersion: '1' };
const UNSUPPORTED_VERSION = 35;

/** Kafka 2.5: the newest of the requests that are needed, with TxnOffsetCommit 3. */
export const OFFSET_FETCH = { name: 'OffsetFetch', key: 9, versions: [7] };

/**
 * Asks a broker what it knows, over a connection that need not be logged in. Throws a ServiceError where the broker is
 * too old.
 */
export async function fetchVersions(
  { connectionPool }: Pick<Broker, 'connectionPool'>,
  waitMsMax: number,
): Promise<KnownVersions> {
  const [oldest, newest] = API_VERSIONS.versions;
  const ask = (version: number) => {
    const body = encodeRequest({ version, isCompact: version === newest }, REQUEST, SOFTWARE);
    return sendEncoded({ connectionPool }, { ...API_VERSIONS, version }, body, {
      decode: (payload) => decodeVersions(payload, version),
      waitMsMax,
    });
  };
  let answer = await ask(newest);
  if (answer.errorCode === UNSUPPORTED_VERSION) answer = await ask(oldest);
  const versions = Object.fromEntries(answer.requests.map(({ key, ...range }) => [key, range]));
  if (answer.errorCode === 0) refuseTooOld(connectionPool, versions);
  const features = new Map(answer.features.map(({ name, level }) => [name ?? '', level]));
  return { errorCode: answer.errorCode, versions, features };
}

function refuseTooOld({ host, port }: Broker['connectionPool'], versions: KnownVersions['versions']): void {
  const known = versions[OFFSET_FETCH.key]?.maxVersion ?? -1;
  if (known >= OFFSET_FETCH.versions[0]) return;
  const text = `The broker at ${host}:${port} is older than ${OLDEST_KAFKA}, the oldest release that works`;
  const found = known < 0 ? `it does not have ${OFFSET_FETCH.name}` : `its newest ${OFFSET_FETCH.name} is ${known}`;
  throw new ServiceError('configuration', `${text}: ${found}, and ${OFFSET_FETCH.versions[0]} is needed`);
}

/** The header of this answer never has tagged fields: a client that asks does not know yet what the broker knows. */
function decodeVersions(payload: Buffer, version: number) {
  const isRefused = payload.readInt16BE(0) === UNSUPPORTED_VERSION;
  return decodeFields({ version: isRefused ? 0 : version, isCompact: !isRefused && version > 0 }, ANSWER, payload);
}
