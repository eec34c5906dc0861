import type { LoadedConfig } from '../../../config/load.ts';
import type { HistoryReader } from '../../../history/port/history-port.ts';
import type { Logger } from '../../../ops/logger.ts';
import { type OpsServer, startOpsServer } from '../../../ops/ops-server.ts';
import { EXPOSITION_TYPE, scoreMetrics } from '../../../pipelines/remote-write/score-exposition.ts';

/**
 * Serves the newest scores as metrics, as the history has them at each scrape; null without a port. While the history
 * cannot be read a scrape fails. Throws a ServiceError.
 */
export async function serveScores(
  { opsHost: host, scores }: Pick<LoadedConfig, 'opsHost' | 'scores'>,
  { reader, logger }: { readonly reader: Pick<HistoryReader, 'published'>; readonly logger: Pick<Logger, 'warn'> },
): Promise<OpsServer | null> {
  const { port, series, seriesMax: limit } = scores;
  if (port === null) return null;
  let logged = false;
  const metrics = async () => {
    const published = await reader.published({ series, limit });
    const { seriesTotal, eventsTotal } = published;
    const isOver = seriesTotal > limit || eventsTotal > limit;
    if (isOver && !logged) {
      const text = 'not all scores are scraped: narrow SCORES_SERIES or raise SCORES_SERIES_MAX';
      logger.warn({ series: seriesTotal, events: eventsTotal, limit }, text);
    }
    logged = isOver;
    return scoreMetrics(published);
  };
  return startOpsServer({
    host,
    port,
    settings: 'OPS_HOST and SCORES_PORT (--scores-port)',
    metrics: { registry: { contentType: EXPOSITION_TYPE, metrics } },
    reasonsNotReady: () => [],
  });
}
