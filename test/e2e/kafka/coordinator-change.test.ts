import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { ISocketFactory } from 'kafkajs';
import { createKafkaLog } from '../../../src/stream/log/kafka/kafka-log.ts';
import { alteredResponses } from '../../fixture/kafka/altered-responses.ts';
import { committedRecords, freshTopics, kafkaConnection, kafkaTest } from '../../fixture/kafka/kafka.ts';

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

/** Opens a session, which must live for all commits, each of which must be visible once. */
async function commitAll(t: TestContext, socketFactory: ISocketFactory): Promise<void> {
  const connection = await kafkaConnection();
  const topics = await freshTopics(1);
  const group = { topics, groupId: `group-${topics.observations}`, sessionMs: 3_000 };
  const log = createKafkaLog({ ...connection, ...group, socketFactory });
  t.after(() => log.close());
  const session = await log.openPartition(0);
  for (let offset = 1; offset <= COMMITS; offset++) {
    const value = Buffer.from(String(offset));
    await session.commit([{ topic: topics.scores, partition: 0, key: null, value }], offset);
  }
  const visible = await committedRecords(topics.scores, 0);
  assert.deepEqual(
    visible.map(({ value }) => Number(value)),
    Array.from({ length: COMMITS }, (_, i) => i + 1),
  );
  assert.equal((await log.openPartition(0)).committedOffset, COMMITS);
}

/** Where the error code stands in a response. Those for several partitions name one partition of one topic here. */
function errorAt(apiKey: ApiKey, body: Buffer): number {
  if (apiKey === 9) return body.length - 3;
  if (apiKey === 24 || apiKey === 28) return body.length - 2;
  return 4;
}

for (const apiKey of API_KEYS.filter((key) => key !== 0)) {
  kafkaTest(`a coordinator that moved at a request ${REQUESTS[apiKey]} costs no session`, async (t) => {
    let moved = false;
    const factory = alteredResponses((response) => {
      if (moved || response.apiKey !== apiKey) return;
      moved = true;
      response.body.writeInt16BE(NOT_COORDINATOR, errorAt(apiKey, response.body));
    });
    await commitAll(t, factory);
    assert.ok(moved);
  });
}

/** Loses the connection over one request: before it is sent, or after it took effect. */
function losingSockets(apiKey: ApiKey, when: 'before' | 'after') {
  const state = { lost: false };
  const factory: ISocketFactory = ({ host, port, onConnect }) => {
    const socket = connect({ host, port }, onConnect);
    const write = socket.write.bind(socket);
    const lose = () => socket.destroy(new Error('The connection was lost'));
    socket.write = (request: Uint8Array | string, ...rest: unknown[]) => {
      const due = !state.lost && Buffer.isBuffer(request) && request.readInt16BE(4) === apiKey;
      if (!due) return write(request, ...(rest as []));
      state.lost = true;
      if (when === 'before') {
        lose();
        return false;
      }
      const emit = socket.emit.bind(socket);
      socket.emit = (event: string | symbol, ...values: unknown[]) => {
        if (event !== 'data') return emit(event, ...values);
        lose();
        return true;
      };
      return write(request, ...(rest as []));
    };
    return socket;
  };
  return { state, factory };
}

for (const apiKey of API_KEYS) {
  for (const when of ['before', 'after'] as const) {
    kafkaTest(`a connection lost ${when} a request ${REQUESTS[apiKey]} costs no session`, async (t) => {
      const { state, factory } = losingSockets(apiKey, when);
      await commitAll(t, factory);
      assert.ok(state.lost);
    });
  }
}
