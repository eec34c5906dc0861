import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from '@grpc/grpc-js';
import { ServiceError } from '../../ops/service-error.ts';
import { CONNECTION_LIMITS, limitSockets } from '../http/connection-limits.ts';
import type { AppServices } from '../http/exchange/app-services.ts';
import { isOverload } from '../http/exchange/failures.ts';
import { ROUTE_TABLE } from '../http/route-table.ts';
import { reasonsOf, receivedOf } from '../http/routes/points/received-answers.ts';
import { readTls, renewTls, type TlsPaths } from '../http/tls-files.ts';
import type { BodyBudget } from '../wire/body/body-budget.ts';
import { partialSuccess } from '../wire/otlp-answers.ts';
import { HttpProblem } from '../wire/problem.ts';
import { statusOf } from './grpc-status.ts';
import { type GuardOptions, guardCalls } from './guard-calls.ts';

/** `Export` of `MetricsService` in opentelemetry.proto.collector.metrics.v1. */
export const EXPORT_PATH = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

const asIs = (bytes: Buffer) => bytes;
/** Messages stay bytes: what reads those of HTTP reads them. */
const METRICS_SERVICE = {
  Export: {
    path: EXPORT_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
} as const;

/** Calls of a connection at once, its unread bytes, and the memory of its session in MB. */
const [STREAMS_MAX, WINDOW_BYTES, SESSION_MB_MAX] = [64, 1_048_576, 64];
/** Connections without calls, and those whose client does not answer a ping in time, are closed. */
const [IDLE_MS_MAX, PING_MS, PING_ANSWER_MS_MAX] = [600_000, 60_000, 20_000];

interface OtlpServerOptions
  extends Required<Pick<AppServices, 'keys' | 'logger' | 'metrics' | 'receivePoints'>>,
    Pick<GuardOptions, 'limits'> {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly tls?: TlsPaths | null;
  readonly trustedProxies?: readonly string[];
  readonly connectionsMax?: number;
  readonly perAddressMax?: number;
  /** Shared with HTTP. */
  readonly bodies: BodyBudget;
}

interface OtlpServer {
  readonly address: string;
  /** Stops accepting connections and waits for open calls, at most `msMax`; then closes their connections. */
  close(msMax: number): Promise<void>;
}

/**
 * Receives OTLP over gRPC. Throws a ServiceError `configuration` when the address cannot be bound, or the certificate
 * cannot be used.
 */
export async function startOtlpServer(options: OtlpServerOptions): Promise<OtlpServer> {
  const { host, port, tls: paths = null, trustedProxies = [], logger } = options;
  const { connectionsMax = CONNECTION_LIMITS.connectionsMax, perAddressMax = CONNECTION_LIMITS.perAddressMax } =
    options;
  const limits = { ...CONNECTION_LIMITS, connectionsMax, perAddressMax };
  const tls = paths === null ? null : await readTls(paths);
  const grpc = grpcServer(options);
  const connections = grpc.createConnectionInjector(ServerCredentials.createInsecure());
  const accept = (socket: Socket) => connections.injectConnection(socket);
  // Its own listener: it closes connections beyond the limits, and renews its certificate.
  const listener =
    tls === null
      ? createServer(accept)
      : createTlsServer({ ...tls, ALPNProtocols: ['h2'], handshakeTimeout: limits.headersMsMax }, accept);
  limitSockets(listener, limits, trustedProxies);
  if (paths !== null && tls !== null) renewTls(listener as ReturnType<typeof createTlsServer>, tls, { paths, logger });
  try {
    listener.listen(port, host);
    await once(listener, 'listening');
  } catch (error) {
    const fault = `${host}:${port} cannot be listened on (${(error as Error).message})`;
    const text = `${fault}; set GRPC_PORT (--grpc-port), or GRPC_PORT=off`;
    throw new ServiceError('configuration', text, { cause: error });
  }
  const { address, family, port: bound } = listener.address() as AddressInfo;
  return {
    address: `${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    async close(msMax) {
      const closed = once(listener, 'close');
      listener.close();
      const deadline = setTimeout(() => grpc.forceShutdown(), msMax);
      await new Promise<void>((resolve) => grpc.tryShutdown(() => resolve()));
      await closed;
      clearTimeout(deadline);
    },
  };
}

function grpcServer({ receivePoints, ...services }: OtlpServerOptions): Server {
  const rules = ROUTE_TABLE[`gRPC ${EXPORT_PATH}`];
  const bodyBytesMax = rules.bodyBytesMax ?? 0;
  const guard = guardCalls({ ...services, route: EXPORT_PATH, rules: { ...rules, bodyBytesMax } });
  const server = new Server({
    interceptors: [guard],
    'grpc.max_receive_message_length': bodyBytesMax,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    'grpc-node.flow_control_window': WINDOW_BYTES,
    'grpc-node.max_session_memory': SESSION_MB_MAX,
    'grpc.max_connection_idle_ms': IDLE_MS_MAX,
    'grpc.keepalive_time_ms': PING_MS,
    'grpc.keepalive_timeout_ms': PING_ANSWER_MS_MAX,
    'grpc.enable_channelz': 0,
  });
  const exported = async ({ request }: ServerUnaryCall<Buffer, Buffer>): Promise<Buffer> => {
    const outcome = await receivePoints({ format: 'otlp-protobuf', bytes: request, snappy: false, precision: 'ns' });
    const received = receivedOf(outcome);
    if (received === null) throw new HttpProblem(400, reasonsOf(outcome));
    return partialSuccess(received.refused, received.reasons.join('; '));
  };
  server.addService(METRICS_SERVICE, {
    Export(call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
      exported(call).then(
        (message) => answer(null, message),
        (error: unknown) => {
          if (!(error instanceof HttpProblem) && !isOverload(error))
            services.logger.error({ err: error, route: EXPORT_PATH }, 'a request failed');
          answer(statusOf(error));
        },
      );
    },
  });
  return server;
}
