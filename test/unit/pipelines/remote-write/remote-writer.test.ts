import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { decodeRemoteWrite } from '../../../../src/codecs/points/remote-write.ts';
import type { WrittenSeries } from '../../../../src/codecs/write-request.ts';
import { inflateSnappy } from '../../../../src/kafka/batch/snappy.ts';
import { RemoteWriter } from '../../../../src/pipelines/remote-write/remote-writer.ts';
import { listening } from '../../../fixture/http/listening.ts';

interface Post {
  readonly headers: IncomingHttpHeaders;
  /** Values by series. */
  readonly values: Readonly<Record<string, readonly number[]>>;
}

type Answer = readonly [status: number, text?: string, headers?: Readonly<Record<string, string>>];

const SECRET = 'a-token-nobody-may-see';

/** A receiver that answers as told, and a writer to it. */
async function writerTo(answer: (post: Post, count: number) => Answer, protocol: 1 | 2 = 1) {
  const posts: Post[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    if (protocol === 1 && request.headers['x-prometheus-remote-write-version'] === '2.0.0') {
      response.writeHead(415).end();
      return;
    }
    const points = decodeRemoteWrite(inflateSnappy(Buffer.concat(chunks), 1_000_000));
    assert.equal(points.kind, 'points');
    const series = points.kind === 'points' ? points.series : [];
    const post = { headers: request.headers, values: Object.fromEntries(series.map(({ id, values }) => [id, values])) };
    posts.push(post);
    const [status, text = '', headers = {}] = answer(post, posts.length);
    response.writeHead(status, headers).end(text);
  });
  const port = await listening(server);
  const delays: number[] = [];
  const outcomes: (readonly [string, unknown])[] = [];
  const writer = new RemoteWriter({
    config: {
      url: `http://127.0.0.1:${port}/api/v1/write`,
      authorization: `Bearer ${SECRET}`,
      headers: { 'X-Scope-OrgID': 'team-a' },
    },
    reports: {
      accepted: (samples) => outcomes.push(['accepted', samples]),
      refused: (samples, reason) => outcomes.push(['refused', `${samples}: ${reason}`]),
      stalled: (reason) => outcomes.push(['stalled', reason]),
    },
    random: () => 0,
    nowMs: Date.now,
    wait: async (ms) => void delays.push(ms),
  });
  const said = (kind: string) => outcomes.filter(([each]) => each === kind).map(([, what]) => what);
  return { posts, writer, said, delays };
}

const SERIES: readonly WrittenSeries[] = ['a', 'b', 'c'].map((name, i) => {
  return { labels: [['__name__', name]], samples: [1, 2, 3].map((ms) => [ms, 10 * i + ms] as const) };
});
const never = new AbortController().signal;

test('samples are one request, compressed, with the headers of the settings', async () => {
  const { posts, writer, said } = await writerTo(() => [204]);
  await writer.write(SERIES, never);
  assert.deepEqual(posts[0]?.values, { a: [1, 2, 3], b: [11, 12, 13], c: [21, 22, 23] });
  const { headers } = posts[0];
  assert.equal(headers.authorization, `Bearer ${SECRET}`);
  assert.equal(headers['x-scope-orgid'], 'team-a');
  assert.equal(headers['content-encoding'], 'snappy');
  assert.equal(headers['x-prometheus-remote-write-version'], '0.1.0');
  assert.deepEqual([posts.length, said('accepted'), said('refused')], [1, [9], []]);
  await writer.write([], never);
  assert.equal(posts.length, 1);
});

test('what fails is repeated until it is accepted, not before Retry-After, and no secret is logged', async () => {
  const { posts, writer, said, delays } = await writerTo((_, count) => {
    if (count === 1) return [503, 'out of order'];
    if (count === 2) return [429, '', { 'retry-after': '7' }];
    if (count === 3) return [401, `no such token: Bearer ${SECRET} (${SECRET})\nmore`];
    return [200];
  });
  await writer.write(SERIES.slice(0, 1), never);
  assert.equal(posts.length, 4);
  assert.deepEqual(delays, [250, 7_000, 1_000]);
  assert.deepEqual(said('stalled'), [
    null,
    'status 503: out of order',
    'status 429',
    'status 401: no such token: *** (***)',
    null,
  ]);
  assert.deepEqual(said('accepted'), [3]);
});

test('a sample that is refused is passed over alone, and the others are accepted in their order', async () => {
  const taken: Record<string, number[]> = {};
  const { writer, said } = await writerTo(({ values }) => {
    if (values.b?.includes(12)) return [400, 'out of order sample'];
    for (const [id, more] of Object.entries(values)) taken[id] = [...(taken[id] ?? []), ...more];
    return [204];
  });
  await writer.write(SERIES, never);
  assert.deepEqual(taken, { a: [1, 2, 3], b: [11, 13], c: [21, 22, 23] });
  assert.deepEqual(said('refused'), ['1: status 400: out of order sample']);
});

test('where everything is refused the search for samples ends', async () => {
  const { posts, writer, said } = await writerTo(() => [400, 'out of order sample']);
  const many = Array.from({ length: 1_000 }, (_, i) => ({ ...SERIES[0], labels: [['__name__', `m${i}`]] as const }));
  await writer.write(many, never);
  assert.ok(posts.length < 500, `${posts.length} requests`);
  const samples = said('refused').reduce<number>((sum, text) => sum + Number.parseInt(String(text), 10), 0);
  assert.equal(samples, 3_000);
});

/** 20 series with a sample a minute for twelve hours. */
const HOURS: readonly WrittenSeries[] = Array.from({ length: 20 }, (_, i) => ({
  labels: [['__name__', `m${i}`]],
  samples: Array.from({ length: 720 }, (_, minute) => [60_000 * minute, minute] as const),
}));
const FIRST_TAKEN = 660;
const total = (counts: readonly unknown[]) =>
  counts.reduce<number>((sum, each) => sum + Number.parseInt(String(each), 10), 0);

test('a receiver of 2.0 stores the good samples of a request, and the others are counted as refused', async () => {
  const answer = ({ values }: Post): Answer => {
    const taken = Object.values(values)
      .flat()
      .filter((minute) => minute >= FIRST_TAKEN).length;
    return [400, 'out of bounds', { 'x-prometheus-remote-write-samples-written': String(taken) }];
  };
  const { posts, writer, said } = await writerTo(answer, 2);
  await writer.write(HOURS, never);
  assert.deepEqual(
    [posts.length, said('accepted'), said('refused')],
    [1, [20 * 60], [`${20 * FIRST_TAKEN}: status 400: out of bounds`]],
  );
  assert.equal(posts[0].headers['x-prometheus-remote-write-version'], '2.0.0');
});

test('a receiver that answers 2.0 without a number of samples gets them by 1.0, once', async () => {
  const { posts, writer, said } = await writerTo(() => [204], 2);
  await writer.write(SERIES, never);
  await writer.write(SERIES, never);
  const versions = posts.map(({ headers }) => headers['x-prometheus-remote-write-version']);
  assert.deepEqual(versions, ['2.0.0', '0.1.0', '0.1.0']);
  assert.deepEqual(said('accepted'), [9, 9]);
});

test('a receiver of 1.0 that refuses what is too old gets all the rest but a few samples of one series', async () => {
  const newest = new Map<string, number>();
  const answer = ({ values }: Post): Answer => {
    const entries = Object.entries(values);
    if (entries.some(([, minutes]) => minutes.some((minute) => minute < FIRST_TAKEN))) return [400, 'out of bounds'];
    if (entries.some(([id, [first]]) => first <= (newest.get(id) ?? -1))) return [400, 'out of order sample'];
    for (const [id, minutes] of entries) newest.set(id, minutes.at(-1)!);
    return [204];
  };
  const { posts, writer, said } = await writerTo(answer);
  await writer.write(HOURS, never);
  assert.ok(posts.length < 20, `${posts.length} requests`);
  assert.ok(total(said('accepted')) >= 19 * 60);
  assert.equal(total(said('accepted')) + total(said('refused')), 20 * 720);
});

test('a sample that is too far in the future is refused alone, not with all that are older', async () => {
  const taken: Record<string, number[]> = {};
  const { writer, said } = await writerTo(({ values }) => {
    if (values.b?.includes(13)) return [400, 'out of bounds: timestamp is too far in the future'];
    for (const [id, more] of Object.entries(values)) taken[id] = [...(taken[id] ?? []), ...more];
    return [204];
  });
  await writer.write(SERIES, never);
  assert.deepEqual(taken, { a: [1, 2, 3], b: [11, 12], c: [21, 22, 23] });
  assert.deepEqual(said('refused'), ['1: status 400: out of bounds: timestamp is too far in the future']);
});

test('a receiver that is away is waited for, until the signal', async () => {
  const stop = new AbortController();
  const reasons: (string | null)[] = [];
  const writer = new RemoteWriter({
    config: { url: 'http://127.0.0.1:9/write', authorization: null, headers: {} },
    reports: {
      accepted: () => assert.fail('nobody accepts'),
      refused: () => assert.fail('nobody refuses'),
      stalled: (reason) => {
        if (reasons.push(reason) === 3) stop.abort(new Error('stopped'));
      },
    },
    random: () => 0,
    nowMs: Date.now,
    wait: async () => undefined,
  });
  await assert.rejects(writer.write(SERIES, stop.signal));
  assert.equal(reasons.length, 3);
  assert.ok(reasons.every((reason) => reason !== null && reason !== ''));
});
