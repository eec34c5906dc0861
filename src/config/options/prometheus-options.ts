import { seriesText } from '../schema/kinds.ts';
import { listedFirst, secret, secretFile, setting } from './option.ts';
import { headerValue, httpHeaders, httpUrl, limit, port } from './option-kinds.ts';

/** Scores as metrics that Prometheus scrapes. */
export const scoresOptions = {
  scoresPort: setting(
    'SCORES_PORT',
    port,
    'port at OPS_HOST where Prometheus scrapes the scores of series with open events; 0: any free port',
  ),
  scoresSeries: setting('SCORES_SERIES', seriesText, 'further series to expose there, by a glob or matchers'),
  scoresSeriesMax: setting('SCORES_SERIES_MAX', limit(10_000), 'most series, and most open events, of a scrape', 1_000),
};

export const remoteWriteOptions = {
  remoteWriteUrl: listedFirst(
    setting('REMOTE_WRITE_URL', httpUrl, 'receiver of remote write, such as http://HOST:9090/api/v1/write'),
  ),
  remoteWriteAuthorization: secret(
    'REMOTE_WRITE_AUTHORIZATION',
    'value of the header Authorization, such as Bearer TOKEN',
    headerValue,
  ),
  remoteWriteAuthorizationFile: secretFile('REMOTE_WRITE_AUTHORIZATION', 'remoteWriteAuthorization'),
  remoteWriteHeaders: secret(
    'REMOTE_WRITE_HEADERS',
    'further headers, NAME=VALUE separated by commas, such as X-Scope-OrgID=team-a',
    httpHeaders,
  ),
  remoteWriteHeadersFile: secretFile('REMOTE_WRITE_HEADERS', 'remoteWriteHeaders'),
  remoteWriteSeries: setting(
    'REMOTE_WRITE_SERIES',
    seriesText,
    'series whose bands are written, by a glob or matchers',
    '*',
  ),
};
