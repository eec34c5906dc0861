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
/** Changes without a body: the path has all. */
const ACT: RouteRules = { ...CHANGE, bodyBytesMax: null };
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
const POINTS: RouteRules = { ...CHANGE, atOnce: 64, bodyBytesMax: 32 * MIB, rawBody: 'points' };

/** Rules of a route that openapi.json describes, under this name. */
const named = (rules: RouteRules) => (id: string, summary: string) => ({ ...rules, operation: { id, summary } });
const [open, read, change, act] = [OPEN, READ, CHANGE, ACT].map(named);
const [adminRead, adminChange, call, job, points] = [ADMIN_READ, ADMIN_CHANGE, CALL, JOB, POINTS].map(named);
const jobOf = (id: string) => read(id, 'Returns status and result of a job, until a week after it ended');

/** Every route of the service. One without a row here does not start. */
export const ROUTE_TABLE: RouteTable = {
  'OPTIONS *': OPEN,
  'GET /': FILE,
  'GET /health': open('getHealth', 'Answers while the service runs'),
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
  'GET /v1/sessions': read('listSessions', 'Lists the sessions of the console that are open'),
  // A key ends its own sessions; admins end those of others, too.
  'DELETE /v1/sessions': read('endSessions', 'Ends the sessions of the console, that of this request as well'),
  'DELETE /v1/sessions/:id': read('endSession', 'Ends one session of the console: of this key; admins of any key'),

  'GET /validate_api_key': read('validateApiKey', 'Checks the API key'),
  'POST /validate_token': read('validateToken', 'Checks the API key (for old clients)'),
  'GET /usage': read('getUsage', 'Counts answered requests and their tokens in the current minute and month (UTC)'),
  'GET /v2/models': read('listModels', 'Lists the models that the key may use'),
  'GET /model_params': read('getModelParams', 'Returns the input size and the horizon of a model at a frequency'),
  'POST /model_params': named({ ...READ, bodyBytesMax: 64 * KIB })(
    'queryModelParams',
    'Returns the input size and the horizon of a model at a frequency',
  ),

  'POST /v2/forecast': call('forecast', 'Forecasts the next values of each series'),
  'POST /v2/cross_validation': call('crossValidate', 'Forecasts windows at the end of each series'),
  'POST /v2/anomaly_detection': call('detectInSample', 'Detects anomalies in whole histories, in-sample'),
  'POST /v2/online_anomaly_detection': call('detectOnline', 'Detects anomalies at the end of each series'),
  'POST /v2/historic_forecast': call('forecastHistoric', 'Forecasts whole histories; use /v2/cross_validation'),
  'POST /v2/explain': call('explain', 'Weighs features by how relevant their past is to the next values of the series'),
  'POST /v2/simulate': call(
    'simulate',
    'Simulates paths of the next values, correlated in time and, if requested, between series',
  ),
  'POST /v2/finetune': call('finetune', 'Fine-tunes a model on series and stores it under an id'),
  'GET /v2/finetuned_models': read('listFinetunedModels', 'Lists the fine-tuned models, newest first'),
  'GET /v2/finetuned_models/:id': read('getFinetunedModel', 'Returns one fine-tuned model'),
  'DELETE /v2/finetuned_models/:id': act('deleteFinetunedModel', 'Deletes one model; those derived from it remain'),

  'POST /v2/forecast/async': job('submitForecastJob', 'Submits a job: forecast'),
  'POST /v2/cross_validation/async': job('submitCrossValidationJob', 'Submits a job: cross_validation'),
  'POST /v2/anomaly_detection/async': job('submitAnomalyDetectionJob', 'Submits a job: anomaly_detection'),
  'POST /v2/finetune/async': job('submitFinetuneJob', 'Submits a job: finetune'),
  'POST /v2/explain/async': job('submitExplainJob', 'Submits a job: explain'),
  'POST /v2/simulate/async': job('submitSimulateJob', 'Submits a job: simulate'),
  'GET /v2/forecast/jobs/:id': jobOf('getForecastJob'),
  'GET /v2/cross_validation/jobs/:id': jobOf('getCrossValidationJob'),
  'GET /v2/anomaly_detection/jobs/:id': jobOf('getAnomalyDetectionJob'),
  'GET /v2/finetune/jobs/:id': jobOf('getFinetuneJob'),
  'GET /v2/explain/jobs/:id': jobOf('getExplainJob'),
  'GET /v2/simulate/jobs/:id': jobOf('getSimulateJob'),
  'GET /v2/async/jobs': read('listJobs', 'Lists the jobs of all tasks by status, newest first'),
  'GET /v2/async/jobs/status': read('countOpenJobs', 'Counts pending and running jobs by task'),
  'POST /v2/async/jobs/:id/cancel': act('cancelJob', 'Cancels a pending or running job'),

  'GET /v1/series': read('listSeries', 'Lists the scored series with their newest score, worst first'),
  'GET /v1/series/:id/scores': read('getScores', 'Returns the scores of a series in columns, downsampled if many'),
  'GET /v1/groups': read('listGroups', 'Lists the groups that are scored together, worst first'),
  'GET /v1/events': read('listEvents', 'Lists events, open ones first, then newest first'),
  'GET /v1/events/:id': read('getEvent', 'Returns one event'),
  'POST /v1/events/:id/acknowledge': change('acknowledgeEvent', 'Acknowledges an event'),
  'POST /v1/events/:id/mute': change('muteEvent', 'Mutes an event until a time'),
  'POST /v1/events/:id/label': change('labelEvent', 'Labels an event as real or not'),
  'GET /v1/incidents': read('listIncidents', 'Lists incidents, open ones first, then newest first'),
  'GET /v1/incidents/:id': read('getIncident', 'Returns one incident: its events, likely origins, similar ones'),
  'POST /v1/incidents/:id/acknowledge': change('acknowledgeIncident', 'Acknowledges an incident and its events'),
  'POST /v1/incidents/:id/mute': change('muteIncident', 'Mutes an incident with all of its events until a time'),
  'POST /v1/incidents/:id/verdict': change('judgeIncident', 'Reports where it began, or an unrelated event'),
  'GET /v1/mutes': read('listMutes', 'Lists mutes of series and detectors, the next end first'),
  'POST /v1/mutes': change('addMute', 'Mutes series, detectors or both until a time; an equal active mute is returned'),
  'DELETE /v1/mutes/:id': act('endMute', 'Ends a mute before its time'),
  'GET /v1/changes': read('listChanges', 'Lists known changes, the latest first'),
  'POST /v1/changes': change('addChange', 'Reports a change, such as a deployment; takes Grafana annotations'),
  'DELETE /v1/changes/:id': act('takeBackChange', 'Withdraws a change'),
  'GET /v1/sent': read('listSent', 'Lists the messages to receivers of alerts, newest first, with the outcome'),
  'GET /v1/labels': read('exportLabels', 'Returns the labels of events as CSV'),
  'GET /v1/live': named({ ...READ, atOnce: null })('readLive', 'Sends scores and events as they arrive'),
  'GET /v1/freshness': read('getFreshness', 'Returns the freshness of the scores, and the series by their state'),
  'GET /v1/holidays': read('listHolidays', 'Lists the holidays of a place in a year, and which days off are not known'),
  'GET /v1/service': read('getService', 'Returns the state of history, workers, jobs and models'),
  'GET /v1/dead-letters': read('listDeadLetters', 'Lists records that could not be scored, newest first'),
  'POST /v1/dead-letters/:id/redrive': act('redriveDeadLetter', 'Writes its record to the topic again'),
  'GET /v1/detectors': read('listDetectors', 'Lists the detectors: settings, series, target and actual rate of events'),
  'PUT /v1/detectors': named({ ...ADMIN_CHANGE, atOnce: 2, bodyBytesMax: 4 * MIB })(
    'saveDetectors',
    'Checks a detectors file, compares it, and publishes it to workers',
  ),
  'POST /v1/what-if/jobs': named({ ...JOB, bodyBytesMax: 64 * KIB })(
    'submitWhatIfJob',
    'Submits a job: two settings score kept values of a detector',
  ),
  'GET /v1/what-if/jobs/:id': read('getWhatIfJob', 'Returns progress and result of a what-if, for a week'),
  'POST /v1/backtest': named({ ...CALL, bodyBytesMax: 64 * MIB, queue: 'scoring' })(
    'backtest',
    'Scores a CSV file as the stream would; returns scores and events',
  ),

  // Questions of assistants: each is a GET request of its own, held to its own row.
  'POST /mcp': { ...READ, bodyBytesMax: 64 * KIB, rawBody: 'message' },
  'GET /mcp': READ,
  'DELETE /mcp': READ,

  'POST /api/v1/write': points('remoteWrite', 'Accepts Prometheus remote write, 1.0 and 2.0'),
  'POST /v1/metrics': points('writeOtlp', 'Accepts OpenTelemetry metrics (OTLP/HTTP)'),
  'POST /api/v2/write': points(
    'writeLineProtocol',
    'Accepts InfluxDB line protocol, as Telegraf and InfluxDB 2 write it',
  ),
  'POST /write': named({ ...POINTS, queryKey: true })(
    'writeLineProtocol1',
    'Accepts InfluxDB line protocol, as clients of InfluxDB 1 write it',
  ),
  'POST /query': named({ ...POINTS, bodyBytesMax: 64 * KIB, queryKey: true })(
    'queryInfluxByPost',
    'Answers what clients of InfluxDB 1 ask before they write',
  ),
  'GET /query': named({ ...READ, role: 'operator', queryKey: true })(
    'queryInflux',
    'Answers what clients of InfluxDB 1 ask before they write',
  ),
  'GET /ping': open('ping', 'Answers clients of InfluxDB while the service runs'),
  'POST /v1/observations': points(
    'writeObservations',
    'Accepts observations as JSON lines, each a record of the input topic',
  ),
  // OTLP over gRPC, which its own listener answers.
  'gRPC /opentelemetry.proto.collector.metrics.v1.MetricsService/Export': POINTS,

  'GET /v1/keys': adminRead('listKeys', 'Lists all API keys, without their secrets'),
  'GET /v1/keys/:id': adminRead('getKey', 'Returns one API key, without its secret'),
  'POST /v1/keys': adminChange('createKey', 'Creates an API key. Only this answer has its secret'),
  'POST /v1/keys/:id/revoke': named({ ...ADMIN_CHANGE, bodyBytesMax: null })(
    'revokeKey',
    'Revokes an API key for good; its jobs end',
  ),
  'POST /v1/keys/:id/role': adminChange('changeKeyRole', 'Gives an API key another role'),
  'POST /v1/keys/:id/credit': adminChange('creditKey', 'Grants tokens to an API key, which has a limit from then on'),
  'GET /v1/keys/:id/usage': adminRead('getKeyUsage', 'Usage of an API key in this minute and month, and by day (UTC)'),
  'GET /v1/audit': adminRead(
    'listAuditEvents',
    'Lists who created, changed, tuned, deleted or cancelled what, newest first',
  ),
};
