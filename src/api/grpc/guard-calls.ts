import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { hasRole } from '../../store/keys/key-role.ts';
import { OpenCounts } from '../accounts/open-counts.ts';
import type { AppServices } from '../http/exchange/app-services.ts';
import { CLIENT_GONE } from '../http/exchange/client-gone.ts';
import { isOverload } from '../http/exchange/failures.ts';
import { roleNeeded, tokenOf } from '../http/exchange/require-key.ts';
import type { RouteRules } from '../http/exchange/route-rules.ts';
import type { BodyBudget } from '../wire/body/body-budget.ts';
import { HeldBody } from '../wire/body/held-body.ts';
import { HttpProblem, invalidKey, overloaded, tooManyCalls } from '../wire/problem.ts';
import { httpStatusOf, statusOf } from './grpc-status.ts';

const MESSAGE_LIMITS = {
  /** A message whose sender takes longer is refused for now. */
  messageMsMax: 30_000,
  /** The longest wait of a call for its share of the budget. */
  shareMsMax: 2_000,
};
type MessageLimits = Readonly<typeof MESSAGE_LIMITS>;
const SHARE_LOOK_MS = 20;
/** Until a call of a key that has too many open has a chance again. */
const OPEN_RETRY_MS = 1_000;
/** W3C Trace Context. */
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

export interface GuardOptions extends Pick<AppServices, 'keys' | 'logger' | 'metrics'> {
  readonly bodies: BodyBudget;
  /** The path of the method, by which its calls are counted. */
  readonly route: string;
  readonly rules: RouteRules & { readonly bodyBytesMax: number };
  readonly limits?: MessageLimits;
}

/**
 * Enforces the row of a method in the table of routes, as `requireKey` and `takeBodies` do for requests: key and role
 * before a message is read, calls at once, and the memory of messages. The length of a message is unknown until it has
 * arrived, so a call holds the maximum until then.
 */
export function guardCalls(options: GuardOptions): ServerInterceptor {
  const open = new OpenCounts();
  return (_method, call) => {
    const guarded = new GuardedCall(call, open, options);
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, admit) {
            guarded.admit(metadata).then(
              () => admit(metadata),
              (error: unknown) => guarded.refuse(error),
            );
          },
          onReceiveMessage(message: Buffer, receive) {
            guarded.received(message);
            receive(message);
          },
          onCancel: () => guarded.end(),
        });
      },
    });
  };
}

class GuardedCall {
  readonly #call: ServerInterceptingCallInterface;
  readonly #open: OpenCounts;
  readonly #options: GuardOptions;
  readonly #body: HeldBody;
  readonly #requestId = randomUUID();
  readonly #startedMs = performance.now();
  #traceId: string | undefined;
  #openKey: string | null = null;
  #arrival: NodeJS.Timeout | undefined;
  #isReceived = false;
  #status = CLIENT_GONE;

  constructor(call: ServerInterceptingCallInterface, open: OpenCounts, options: GuardOptions) {
    this.#call = call;
    this.#open = open;
    this.#options = options;
    this.#body = new HeldBody(options.bodies);
    const send = call.sendStatus.bind(call);
    // The library sends some statuses itself, past every interceptor. A message that it cannot read is not INTERNAL.
    call.sendStatus = (given) => {
      const isUnreadable = given.code === status.INTERNAL && !this.#isReceived;
      const sent = isUnreadable ? { ...given, code: status.INVALID_ARGUMENT } : given;
      this.#status = httpStatusOf(sent);
      send(sent);
    };
  }

  /** Throws an HttpProblem or a ServiceError. */
  async admit(metadata: Metadata): Promise<void> {
    const { keys, rules, limits: { messageMsMax } = MESSAGE_LIMITS } = this.#options;
    this.#traceId = TRACEPARENT.exec(String(metadata.get('traceparent')[0]))?.[1];
    const token = tokenOf(metadata.get('authorization')[0]?.toString());
    const address = this.#call.getConnectionInfo().remoteAddress ?? '';
    const key = token === null ? null : await keys.find(token, address);
    if (key === null) throw invalidKey(this.#requestId);
    if (rules.role !== null && !hasRole(key.role, rules.role)) throw roleNeeded(rules.role, key.role);
    if (typeof rules.atOnce === 'number' && this.#open.of(key.id) >= rules.atOnce)
      throw tooManyCalls(`This key may send ${rules.atOnce} such requests at once`, OPEN_RETRY_MS);
    if (this.#body.ended) return;
    this.#openKey = key.id;
    this.#open.add(key.id);
    await this.#holdShare(key.id);
    const text = `The message takes longer than ${messageMsMax / 1_000} seconds to arrive`;
    this.#arrival = setTimeout(() => this.refuse(new HttpProblem(408, text)), messageMsMax);
  }

  async #holdShare(keyId: string): Promise<void> {
    const { bodies, rules, limits: { shareMsMax } = MESSAGE_LIMITS } = this.#options;
    const { bodyBytesMax: bytes } = rules;
    for (let waitedMs = 0; !bodies.reserve(keyId, bytes); waitedMs += SHARE_LOOK_MS) {
      if (waitedMs >= shareMsMax) throw overloaded('Too many large requests at once, try again');
      await sleep(SHARE_LOOK_MS);
      if (this.#body.ended) return;
    }
    this.#body.hold(keyId, bytes);
  }

  received(message: Buffer): void {
    this.#isReceived = true;
    clearTimeout(this.#arrival);
    this.#body.shrink(message.length);
  }

  refuse(error: unknown): void {
    const { logger } = this.#options;
    const problem = statusOf(error);
    if (problem.code === status.INTERNAL && !isOverload(error))
      logger.error({ err: error, requestId: this.#requestId }, 'a request failed');
    this.#isReceived = true;
    this.#call.sendStatus(problem);
  }

  /** Called once, when the call is answered, cancelled or cut off. */
  end(): void {
    const { metrics, logger, route } = this.#options;
    clearTimeout(this.#arrival);
    this.#body.end();
    if (this.#openKey !== null) this.#open.remove(this.#openKey);
    const ms = performance.now() - this.#startedMs;
    const trace = this.#traceId && { traceId: this.#traceId };
    const fields = { requestId: this.#requestId, ...trace, method: 'gRPC', route, status: this.#status };
    logger.info({ ...fields, ms: Math.round(ms) }, 'request');
    metrics.httpRequests.inc({ route, status: this.#status });
    metrics.httpRequestSeconds.observe({ route }, ms / 1_000);
  }
}
