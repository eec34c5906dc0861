/** What senders scrape, and what stands between them and `receive`. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

/** A counter of each queue; at the scrape N that of queue I is at 10 N + I. */
export const QUEUES = 3;

export interface Served {
  readonly url: string;
  close(): void;
  /** Nobody listens there until it returns. */
  leave(): Promise<void>;
  return(): Promise<void>;
}

async function served(listener: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Served> {
  const server: Server = createServer((request, response) => void listener(request, response));
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const leave = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close, leave, return: () => listen(port) };
}

const PROTOBUF = 'application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited';

/** The counters, and native histograms with as many observations: field numbers of io.prometheus.client. */
function nativeExposition(scrapes: number): Buffer {
  const family = (name: string, type: number, write: (metric: protobuf.Writer, queue: number) => void) => {
    const writer = protobuf.Writer.create();
    writer.uint32(10).string(name).uint32(24).int32(type);
    for (let queue = 0; queue < QUEUES; queue++) {
      const metric = writer.uint32(34).fork();
      metric.uint32(10).fork().uint32(10).string('queue').uint32(18).string(String(queue)).ldelim();
      write(metric, queue);
      metric.ldelim();
    }
    return writer.finish();
  };
  const jobs = family('jobs_total', 0, (metric, queue) => {
    metric
      .uint32(26)
      .fork()
      .uint32(9)
      .double(10 * scrapes + queue)
      .ldelim();
  });
  const seconds = family('jobs_seconds', 4, (metric, queue) => {
    const count = 10 * scrapes + queue;
    metric.uint32(58).fork().uint32(8).uint64(count).uint32(17).double(count);
    metric.uint32(40).sint32(1).uint32(49).double(0.001).uint32(56).uint64(0);
    metric.uint32(98).fork().uint32(8).sint32(0).uint32(16).uint32(1).ldelim();
    metric.uint32(106).fork().sint64(count).ldelim().ldelim();
  });
  const delimited = (bytes: Uint8Array) => [protobuf.Writer.create().uint32(bytes.length).finish(), bytes];
  return Buffer.concat([...delimited(jobs), ...delimited(seconds)]);
}

export interface Exporter extends Served {
  readonly scrapes: () => number;
  /** Whether it has a series that is refused for its labels, too. */
  readonly setRefused: (has: boolean) => void;
}

export async function startExporter(): Promise<Exporter> {
  let scrapes = 0;
  let refused = '';
  const { url, ...others } = await served(({ headers }, response) => {
    scrapes++;
    if (headers.accept?.includes(PROTOBUF.split(';')[0])) {
      response.setHeader('content-type', PROTOBUF);
      response.end(nativeExposition(scrapes));
      return;
    }
    const lines = Array.from({ length: QUEUES }, (_each, i) => `jobs_total{queue="${i}"} ${10 * scrapes + i}`);
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE jobs_total counter\n${lines.join('\n')}\n${refused}`);
  });
  const labels = Array.from({ length: 80 }, (_, i) => `l${i}="x"`).join();
  const setRefused = (has: boolean) => {
    refused = has ? `# TYPE bad gauge\nbad{${labels}} 1\n` : '';
  };
  return { url, ...others, scrapes: () => scrapes, setRefused };
}

export interface RecordedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly status: number;
}

export interface Front extends Served {
  readonly requests: readonly RecordedRequest[];
  /** The next requests are answered with a status, and passed on to nobody. */
  readonly refuse: (status: number, count: number) => void;
}

const PASSED = ['authorization', 'content-type', 'content-encoding', 'x-prometheus-remote-write-version'];

/** Passes requests on to `target` as they are. */
export async function startFront(target: string): Promise<Front> {
  const requests: RecordedRequest[] = [];
  let [refusal, left] = [0, 0];
  const { url, ...others } = await served(async (request, response) => {
    const { method = 'POST', url } = request;
    const body = Buffer.concat(await request.toArray());
    const pairs = PASSED.flatMap((name) => (request.headers[name] ? [[name, String(request.headers[name])]] : []));
    const headers = Object.fromEntries(pairs) as Record<string, string>;
    if (left > 0 && method === 'POST') {
      left--;
      requests.push({ headers, body, status: refusal });
      response.writeHead(refusal, { 'retry-after': '1' }).end('{"detail":"refused by the test"}');
      return;
    }
    const sent = method === 'POST' ? { method, headers, body: new Uint8Array(body) } : { method, headers };
    const answer = await fetch(target + url, sent);
    requests.push({ headers, body, status: answer.status });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    url,
    ...others,
    requests,
    refuse(status, count) {
      [refusal, left] = [status, count];
    },
  };
}

/** Keeps the bodies that it gets. */
export async function startSink(): Promise<Served & { readonly bodies: readonly Buffer[] }> {
  const bodies: Buffer[] = [];
  const sink = await served(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    bodies.push(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
    response.writeHead(200).end();
  });
  return { ...sink, bodies };
}
