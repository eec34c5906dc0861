import { BODY_BYTES_MAX } from '../wire/body/read-bytes.ts';
import type { RouteRules, RouteTable } from './exchange/route-rules.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** Routes that need no key. */
const OPEN: RouteRules = {
  role: null,
  price: 'free',
  perMinute: null,
  atOnce: null,
  bodyBytesMax: null,
  queue: null,
  cache: 'no-store',
};
/** Files of web pages. */
const FILE: RouteRules = { ...OPEN, cache: 'own' };
/** Routes that every key may read. */
const READ: RouteRules = { ...OPEN, role: 'viewer', atOnce: 32 };
const CHANGE: RouteRules = { ...READ, role: 'operator', bodyBytesMax: 64 * KIB };
const ADMIN_READ: RouteRules = { ...READ, role: 'admin' };
const ADMIN_CHANGE: RouteRules = { ...CHANGE, role: 'admin' };
/** Requests with series, which cost tokens. */
const CALL: RouteRules = {
  role: 'operator',
  price: 'tokens',
  perMinute: 'of-key',
  atOnce: 'of-key',
  bodyBytesMax: BODY_BYTES_MAX,
  queue: 'owner',
  cache: 'no-store',
};
const JOB: RouteRules = { ...CALL, queue: 'jobs' };

/** Bodies of metric pipelines, of many senders that repeat what is refused for now. */
const POINTS: RouteRules = { ...CHANGE, atOnce: 64, bodyBytesMax: 32 * 1_024 * KIB, rawBody: 'points' };

/** Every route of the service. One without a row here does not start. */
export const ROUTE_TABLE: RouteTable = {
  'OPTIONS *': OPEN,
  'GET /': FILE,
  'GET /health': OPEN,
  'GET /openapi.json': OPEN,
  'GET /docs': FILE,
  'GET /docs/*': FILE,
  'GET /console': FILE,
  'GET /console/*': FILE,

  // They look for a session themselves.
  'GET /console/session': OPEN,
  'DELETE /console/session': OPEN,
  // It takes a key, or a code that signs in once.
  'POST /console/session': OPEN,
  // To the identity provider, and back.
  'GET /console/login': OPEN,
  'GET /console/login/return': OPEN,
  'GET /v1/sessions': READ,
  // A key ends its own sessions; admins end those of others, too.
  'DELETE /v1/sessions': READ,
  'DELETE /v1/sessions/:id': READ,

  'GET /validate_api_key': READ,
  'POST /validate_token': READ,
  'GET /usage': READ,
  'GET /v2/models': READ,
  'GET /model_params': READ,
  'POST /model_params': { ...READ, bodyBytesMax: 64 * KIB },

  'POST /v2/forecast': CALL,
  'POST /v2/cross_validation': CALL,
  'POST /v2/anomaly_detection': CALL,
  'POST /v2/online_anomaly_detection': CALL,
  'POST /v2/historic_forecast': CALL,
  'POST /v2/explain': CALL,
  'POST /v2/simulate': CALL,
  'POST /v2/finetune': CALL,
  'GET /v2/finetuned_models': READ,
  'GET /v2/finetuned_models/:id': READ,
  'DELETE /v2/finetuned_models/:id': { ...CHANGE, bodyBytesMax: null },

  'POST /v2/forecast/async': JOB,
  'POST /v2/cross_validation/async': JOB,
  'POST /v2/anomaly_detection/async': JOB,
  'POST /v2/finetune/async': JOB,
  'POST /v2/explain/async': JOB,
  'POST /v2/simulate/async': JOB,
  'GET /v2/forecast/jobs/:id': READ,
  'GET /v2/cross_validation/jobs/:id': READ,
  'GET /v2/anomaly_detection/jobs/:id': READ,
  'GET /v2/finetune/jobs/:id': READ,
  'GET /v2/explain/jobs/:id': READ,
  'GET /v2/simulate/jobs/:id': READ,
  'GET /v2/async/jobs': READ,
  'GET /v2/async/jobs/status': READ,
  'POST /v2/async/jobs/:id/cancel': { ...CHANGE, bodyBytesMax: null },

  'GET /v1/series': READ,
  'GET /v1/series/:id/scores': READ,
  'GET /v1/groups': READ,
  'GET /v1/events': READ,
  'GET /v1/events/:id': READ,
  'POST /v1/events/:id/acknowledge': CHANGE,
  'POST /v1/events/:id/mute': CHANGE,
  'POST /v1/events/:id/label': CHANGE,
  'GET /v1/incidents': READ,
  'GET /v1/incidents/:id': READ,
  'POST /v1/incidents/:id/acknowledge': CHANGE,
  'POST /v1/incidents/:id/mute': CHANGE,
  'POST /v1/incidents/:id/verdict': CHANGE,
  'GET /v1/mutes': READ,
  'POST /v1/mutes': CHANGE,
  'DELETE /v1/mutes/:id': { ...CHANGE, bodyBytesMax: null },
  'GET /v1/changes': READ,
  'POST /v1/changes': CHANGE,
  'DELETE /v1/changes/:id': { ...CHANGE, bodyBytesMax: null },
  'GET /v1/sent': READ,
  'GET /v1/labels': READ,
  'GET /v1/live': { ...READ, atOnce: null },
  'GET /v1/freshness': READ,
  'GET /v1/holidays': READ,
  'GET /v1/service': READ,
  'GET /v1/dead-letters': READ,
  'POST /v1/dead-letters/:id/redrive': { ...CHANGE, bodyBytesMax: null },
  'GET /v1/detectors': READ,
  'PUT /v1/detectors': { ...ADMIN_CHANGE, atOnce: 2, bodyBytesMax: 4_096 * KIB },
  'POST /v1/what-if/jobs': { ...JOB, bodyBytesMax: 64 * KIB },
  'GET /v1/what-if/jobs/:id': READ,
  'POST /v1/backtest': { ...CALL, bodyBytesMax: 64 * MIB, queue: 'scoring' },

  // Questions of assistants: each is a GET request of its own, held to its own row.
  'POST /mcp': { ...READ, bodyBytesMax: 64 * KIB, rawBody: 'message' },
  'GET /mcp': READ,
  'DELETE /mcp': READ,

  'POST /api/v1/write': POINTS,
  'POST /v1/metrics': POINTS,
  'POST /api/v2/write': POINTS,
  'POST /write': { ...POINTS, queryKey: true },
  'POST /query': { ...POINTS, bodyBytesMax: 64 * KIB, queryKey: true },
  'GET /query': { ...READ, role: 'operator', queryKey: true },
  'GET /ping': OPEN,
  'POST /v1/observations': POINTS,
  // OTLP over gRPC, which its own listener answers.
  'gRPC /opentelemetry.proto.collector.metrics.v1.MetricsService/Export': POINTS,

  'GET /v1/keys': ADMIN_READ,
  'GET /v1/keys/:id': ADMIN_READ,
  'POST /v1/keys': ADMIN_CHANGE,
  'POST /v1/keys/:id/revoke': { ...ADMIN_CHANGE, bodyBytesMax: null },
  'POST /v1/keys/:id/role': ADMIN_CHANGE,
  'POST /v1/keys/:id/credit': ADMIN_CHANGE,
  'GET /v1/keys/:id/usage': ADMIN_READ,
  'GET /v1/audit': ADMIN_READ,
};
