/** Summaries of openapi.json, by the ids of its operations. */
const SUMMARIES: Readonly<Record<string, string>> = {
  acknowledgeEvent: 'Acknowledges an event',
  acknowledgeIncident: 'Acknowledges an incident with all of its events',
  addChange: 'Reports a change, such as a deployment; also as clients of Grafana annotations write it',
  addMute: 'Mutes series, detectors or both until a time; the same mute again is the one that holds',
  backtest: 'Scores a CSV file as the stream would, in a sandbox, and returns scores and events',
  cancelJob: 'Cancels a pending or running job',
  changeKeyRole: 'Gives an API key another role',
  countOpenJobs: 'Counts pending and running jobs by task',
  createKey: 'Creates an API key. The answer is the only place that has its secret',
  creditKey: 'Grants tokens to an API key. One without a limit has one afterwards',
  crossValidate: 'Forecasts windows at the end of each series from the values before each window',
  deleteFinetunedModel: 'Deletes one fine-tuned model; models derived from it remain',
  detectInSample: 'Detects anomalies in whole histories by in-sample forecasts and their residuals',
  detectOnline: 'Detects anomalies at the end of each series by forecasts from the values before it',
  endMute: 'Ends a mute before its time',
  endSession: 'Ends one session of the console: of this key, or for admins of any key',
  endSessions: 'Ends the sessions of the console, that of this request as well',
  explain: 'Weighs features by how relevant their past is to the next values of the series',
  exportLabels: 'Returns the labels of events as CSV',
  finetune: 'Fine-tunes a model on series and stores it under an id',
  forecast: 'Forecasts the next values of each series',
  forecastHistoric: 'Forecasts whole histories in-sample; use /v2/cross_validation',
  getEvent: 'Returns one event',
  getFinetunedModel: 'Returns one fine-tuned model',
  getFreshness: 'Returns the freshness of the scores, and the series by their state',
  getHealth: 'Answers while the service runs',
  getIncident: 'Returns one incident with its events, where it may have begun, and what was like it before',
  getKey: 'Returns one API key, without its secret',
  getKeyUsage: 'Usage of an API key in the current minute and month, and by day (UTC)',
  getModelParams: 'Returns the input size and the horizon of a model at a frequency',
  getScores: 'Returns the scores of a series in columns, downsampled where they are many',
  getService: 'Returns the state of history, workers, jobs and models',
  getUsage: 'Answered requests and their tokens in the current minute and month (UTC)',
  getWhatIfJob: 'Returns progress and result of a what-if of a detector, until a week after it ended',
  judgeIncident: 'Reports that an event does not belong to an incident, or where it began',
  labelEvent: 'Labels an event as real or not',
  listAuditEvents: 'Who created, changed, tuned, deleted or cancelled what, newest first',
  listChanges: 'Lists known changes, the latest first',
  listDeadLetters: 'Lists records that could not be scored, newest first',
  listDetectors: 'Lists the detectors: settings, series, target and actual rate of events',
  listEvents: 'Lists events, open ones first, then newest first',
  listFinetunedModels: 'Lists the fine-tuned models, newest first',
  listGroups: 'Lists the groups that are scored together, worst first',
  listHolidays: 'Lists the holidays of a place in a year, and which days off are not known',
  listIncidents: 'Lists incidents, open ones first, then newest first',
  listJobs: 'Lists the jobs of all tasks by status, newest first',
  listKeys: 'Lists all API keys, without their secrets',
  listModels: 'Lists the models that the key may use',
  listMutes: 'Lists mutes of series and detectors, the next end first',
  listSent: 'Lists what receivers of alerts were sent, newest first, with the outcome',
  listSeries: 'Lists the scored series with their newest score, worst first',
  listSessions: 'Lists the sessions of the console that are open',
  muteEvent: 'Mutes an event until a time',
  muteIncident: 'Mutes an incident with all of its events until a time',
  ping: 'Answers clients of InfluxDB while the service runs',
  queryInflux: 'Answers what clients of InfluxDB 1 ask before they write: CREATE DATABASE, SHOW DATABASES',
  queryInfluxByPost: 'Answers what clients of InfluxDB 1 ask before they write: CREATE DATABASE, SHOW DATABASES',
  queryModelParams: 'Returns the input size and the horizon of a model at a frequency',
  readLive: 'Sends scores and events as they arrive',
  redriveDeadLetter: 'Writes the record of a dead letter to its input topic again',
  remoteWrite: 'Prometheus remote write, 1.0 and 2.0',
  revokeKey: 'Revokes an API key for good; its jobs end',
  saveDetectors: 'For admins: checks a detectors file, compares it with the current one, and publishes it to workers',
  simulate: 'Simulates paths of the next values, correlated in time, and between series where that is requested',
  submitWhatIfJob: 'Submits a job: kept values of all series, or groups, of a detector are scored by two settings',
  takeBackChange: 'Takes a change back',
  validateApiKey: 'Checks the API key',
  validateToken: 'Checks the API key (for old clients)',
  writeLineProtocol:
    'InfluxDB line protocol, as Telegraf and clients of InfluxDB 2 write it; org and bucket are ignored',
  writeLineProtocol1: 'InfluxDB line protocol, as clients of InfluxDB 1 write it',
  writeObservations: 'Observations as JSON lines, each a record of the input topic',
  writeOtlp: 'OpenTelemetry metrics (OTLP/HTTP)',
};

const JOB = /^(submit|get)(\w+)Job$/;

/** The summary of an operation; those of the jobs of tasks are the same for all tasks. */
export function operationSummary(operationId: string): string {
  const [, act, task = ''] = JOB.exec(operationId) ?? [];
  const ofJobs = act === 'get' ? 'Returns status and result of a job, until a week after it ended' : submits(task);
  const summary = SUMMARIES[operationId] ?? (act === undefined ? undefined : ofJobs);
  if (summary === undefined) throw new Error(`${operationId} has no summary`);
  return summary;
}

const submits = (task: string) => `Submits a job: ${task.replace(/\B[A-Z]/g, '_$&').toLowerCase()}`;
