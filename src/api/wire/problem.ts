import { ServiceError } from '../../ops/service-error.ts';

export interface FieldProblem {
  /** Its location: `["body", "series", "sizes", 3]`. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
  readonly input?: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** An error answer. Its body always has `detail`, which public clients read. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string | readonly FieldProblem[],
    options: { readonly body?: Record<string, unknown>; readonly headers?: Record<string, string> } = {},
  ) {
    super(typeof detail === 'string' ? detail : detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '));
    this.status = status;
    this.body = { ...options.body, detail };
    this.headers = options.headers ?? {};
  }
}

const SUPPORT = 'Ask the operator of this service; its README describes how to create keys.';

/** The 401 body that public clients expect. */
export function invalidKey(requestId: string): HttpProblem {
  const body = {
    data: null,
    message: 'Invalid API key',
    details: 'Key not found',
    code: 'A12',
    requestID: requestId,
    support: SUPPORT,
  };
  return new HttpProblem(401, 'Invalid API key', { body, headers: { 'www-authenticate': 'Bearer' } });
}

/** The 429 body that public clients expect for exhausted credits. A retry does not help. */
export function creditsExhausted(requestId: string): HttpProblem {
  const details =
    'The credits of this key do not suffice: a payment method must be added. ' +
    'The operator of this service grants credits with: npm start -- keys credit KEY --credits N';
  const message = 'Too many requests';
  const body = { data: null, message, details, code: 'A21', requestID: requestId, support: SUPPORT };
  return new HttpProblem(429, `${message}. ${details}`, { body });
}

/** A temporary limit of a key. */
export function tooManyCalls(
  limit: string,
  retryAfterMs: number,
  headers: Readonly<Record<string, string>> = {},
): HttpProblem {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return new HttpProblem(429, `${limit}; try again in ${seconds} s`, {
    headers: { ...headers, 'retry-after': String(seconds) },
  });
}

export const PROBLEMS_MAX = 100;

/** Texts of a problem are cut here: names of fields, and messages of parsers, repeat what was sent. */
const TEXT_LENGTH_MAX = 500;

/** All invalid fields at once, up to the maximum. */
export function invalidRequest(problems: readonly FieldProblem[]): HttpProblem {
  return new HttpProblem(422, problems.slice(0, PROBLEMS_MAX).map(withCutTexts));
}

function withCutTexts({ loc, msg, ctx, ...problem }: FieldProblem): FieldProblem {
  const entries = Object.entries(ctx ?? {}).map(([name, value]) => [name, cut(value)] as const);
  return { loc: loc.map(cut), msg: cut(msg), ...problem, ...(ctx && { ctx: Object.fromEntries(entries) }) };
}

function cut<T>(value: T): T | string {
  const isLong = typeof value === 'string' && value.length > TEXT_LENGTH_MAX;
  return isLong ? `${value.slice(0, TEXT_LENGTH_MAX)}...` : value;
}

/** A field that matches its schema but has an invalid value, in the wording of public clients. */
export function fieldProblem(loc: FieldProblem['loc'], error: string): FieldProblem {
  return { loc, msg: `Value error, ${error}`, type: 'value_error', ctx: { error } };
}

/** The problems of a body that matches its schema, in the order in which they are found. */
export class BodyProblems {
  readonly #found: FieldProblem[] = [];

  get none(): boolean {
    return this.#found.length === 0;
  }

  /** @param path below the body */
  add(path: FieldProblem['loc'], error: string): void {
    this.#found.push(fieldProblem(['body', ...path], error));
  }

  /** Throws an HttpProblem with all of them, if there are any. */
  throwIfAny(): void {
    if (!this.none) throw invalidRequest(this.#found);
  }
}

/** Another request was sent under this `Idempotency-Key`. */
export function otherRequest(): HttpProblem {
  const text = 'another request was submitted under this key; a new request needs a new key';
  return invalidRequest([fieldProblem(['header', 'idempotency-key'], text)]);
}

const RETRY_AFTER_S = 2;

export function overloaded(detail: string): HttpProblem {
  return new HttpProblem(503, detail, { headers: { 'retry-after': String(RETRY_AFTER_S) } });
}

/**
 * The answer for an error. Internal details are only logged.
 * @param known which id identifies the log entry
 */
export function problemOf(error: unknown, known = 'request id'): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof ServiceError && error.code === 'overloaded')
    return overloaded('Too many requests at once, try again');
  if (error instanceof ServiceError && error.code === 'store-unavailable')
    return overloaded('Keys, credits and jobs are unavailable, try again');
  if (error instanceof ServiceError && error.code === 'broker-unavailable')
    return overloaded('Kafka is unavailable, try again');
  if (error instanceof ServiceError && error.code === 'history-unavailable') return overloaded(error.message);
  const status = (error as { readonly statusCode?: number }).statusCode ?? 500;
  if (status >= 400 && status < 500) return new HttpProblem(status, (error as Error).message);
  return new HttpProblem(500, `Internal error; the log has details under this ${known}`);
}
