import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Metrics } from '../../../ops/metrics.ts';
import type { ReceivePoints } from '../../../records/received-points.ts';
import type { Turns } from '../../../sandbox/turns.ts';
import type { KeyRing } from '../../accounts/keys/key-ring.ts';
import type { Calls } from '../../accounts/metering.ts';
import type { RefusedCalls } from '../../accounts/refused-calls.ts';
import type { IdentityProvider } from '../../accounts/sign-in/identity-provider.ts';
import type { SignInCode } from '../../accounts/sign-in/sign-in-code.ts';
import type { JobQueue } from '../../jobs/job-queue.ts';
import type { ServedModels } from '../../models/served-models.ts';
import type { FinetunedServices } from '../../models/tuned-models.ts';
import type { Backtests } from '../../operations/backtests.ts';
import type { Operations } from '../../operations/operations.ts';
import type { BodyBudget } from '../../wire/body/body-budget.ts';
import type { BodyThreads } from '../../wire/body/body-threads.ts';
import type { TransferRate } from '../../wire/body/read-bytes.ts';
import { HttpProblem } from '../../wire/problem.ts';

/** The application type. Route schemas define the types of requests. */
export type App = FastifyInstance<Server, IncomingMessage, ServerResponse, FastifyBaseLogger, TypeBoxTypeProvider>;

/** Files of a web page, read when the service starts. */
export interface ServedPage {
  readonly files: readonly {
    readonly path: string;
    readonly contentType: string;
    readonly body: Buffer;
    /** True where the path changes with the content. */
    readonly immutable: boolean;
  }[];
  /** Content security policy of every file. */
  readonly policy: string;
}

export interface AppServices extends FinetunedServices {
  readonly keys: KeyRing;
  readonly calls: Calls;
  /** Large requests of one owner that run at once. */
  readonly largeWork: Turns;
  readonly refusedCalls: RefusedCalls;
  readonly models: ServedModels;
  readonly jobs: JobQueue;
  /** Access to the stream and its history; null if the service reads none. */
  readonly operations: Operations | null;
  /** Scores files of callers and kept values; none where it is omitted. */
  readonly backtests?: Backtests;
  /** Writes points of metric pipelines to the input topic; none where it is omitted. */
  readonly receivePoints?: ReceivePoints;
  /** The web page at `/console`; none where it is omitted. */
  readonly consolePage?: ServedPage;
  /** Signs in at the console once; none where it is omitted. */
  readonly signInCode?: SignInCode;
  /** Identity provider where people sign in; absent: none. */
  readonly identity?: Pick<IdentityProvider, 'host' | 'begin' | 'finish'>;
  readonly metrics: Pick<Metrics, 'httpRequests' | 'httpRequestSeconds'>;
  readonly bodies?: BodyBudget;
  readonly bodyThreads?: BodyThreads;
  /** The slowest sender of a body that is accepted. */
  readonly transferRate?: TransferRate;
}

/** The services that an application is built with; it adds the others. */
export type GivenServices = Omit<AppServices, 'largeWork' | 'refusedCalls'>;

/** Throws an HttpProblem 404 where nothing is scored on request. */
export function backtestsOf({ backtests }: Pick<AppServices, 'backtests'>): Backtests {
  if (backtests === undefined) throw new HttpProblem(404, 'This service scores no files');
  return backtests;
}
