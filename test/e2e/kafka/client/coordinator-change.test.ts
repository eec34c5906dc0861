import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { alteredResponses, inFirstProtocol } from '../../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshLog, kafkaTest, output } from '../../../fixture/kafka/kafka.ts';
import { unreliableSockets } from '../../../fixture/kafka/unreliable-sockets.ts';

const NOT_COORDINATOR = 16;
const COMMITS = 3;

/** The requests of a session, by API key. */
const REQUESTS = {
  0: 'Produce',
  9: 'OffsetFetch',
  22: 'InitProducerId',
  24: 'AddPartitionsToTxn',
  25: 'AddOffsetsToTxn',
  26: 'EndTxn',
  28: 'TxnOffsetCommit',
} as const;
type ApiKey = keyof typeof REQUESTS;
const API_KEYS = Object.keys(REQUESTS).map((key) => Number(key) as ApiKey);
/** The second protocol of transactions has none of them. */
const FIRST_ONLY: readonly ApiKey[] = [24, 25];
const PROTOCOLS = [
  { named: 'V1', sent: API_KEYS, sockets: inFirstProtocol },
  {
    named: 'V2',
    sent: API_KEYS.filter((key) => !FIRST_ONLY.includes(key)),
    sockets: (open: ISocketFactory) => open,
  },
];

/** Opens a session, which must live for all commits, each of which must be visible once. */
async function commitAll(t: TestContext, socketFactory: ISocketFactory): Promise<void> {
  const { topics, log } = await freshLog(t, { socketFactory });
  const session = await log.openPartition(0);
  for (let offset = 1; offset <= COMMITS; offset++) {
    await session.commit([output(topics.scores, offset)], offset);
  }
  const visible = await committedRecords(topics.scores, 0);
  assert.deepEqual(
    visible.map(({ value }) => Number(value)),
    Array.from({ length: COMMITS }, (_, i) => i + 1),
  );
  assert.equal((await log.openPartition(0)).committedOffset, COMMITS);
}

/**
 * Where the error code stands in a response, before tagged fields of which there are none. Those for several partitions
 * name one partition of one topic here.
 */
function errorAt(apiKey: ApiKey, body: Buffer): number {
  if (apiKey === 9) return body.length - 3;
  if (apiKey === 24 || apiKey === 28) return body.length - 5;
  return 5;
}

for (const { named, sent, sockets } of PROTOCOLS) {
  for (const apiKey of sent.filter((key) => key !== 0)) {
    kafkaTest(`${named}: a coordinator that moved at a request ${REQUESTS[apiKey]} costs no session`, async (t) => {
      let moved = false;
      const factory = alteredResponses((response) => {
        const at = errorAt(apiKey, response.body);
        if (moved || response.apiKey !== apiKey || response.body.readInt16BE(at) !== 0) return;
        moved = true;
        response.body.writeInt16BE(NOT_COORDINATOR, at);
      });
      await commitAll(t, sockets(factory));
      assert.ok(moved);
    });
  }

  for (const apiKey of sent) {
    for (const [when, fate] of [
      ['before', 'lost'],
      ['after', 'answer-lost'],
    ] as const) {
      kafkaTest(`${named}: a connection lost ${when} a request ${REQUESTS[apiKey]} costs no session`, async (t) => {
        let lost = false;
        const factory = unreliableSockets((key) => {
          if (lost || key !== apiKey) return 'sent';
          lost = true;
          return fate;
        });
        await commitAll(t, sockets(factory));
        assert.ok(lost);
      });
    }
  }
}
