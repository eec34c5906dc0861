import assert from 'node:assert/strict';
import { collectAlerts, collectForecasts, collectService, createMetrics, SCORE_GAUGES } from '../../src/ops/metrics.ts';

const HEAD = `# Metrics

This page is generated from the code. Names are stable: dashboards and rules may rely on them. A histogram has
\`_bucket\`, \`_sum\` and \`_count\`. Outcomes of records are counted once they are committed. Metrics of Node.js itself
are not listed.

- [All metrics](#all-metrics)

## All metrics
`;

/** The page of all metrics that the code registers. */
export function metricsPage(): string {
  const metrics = createMetrics({ collectProcess: false });
  const { registry } = metrics;
  const never = () => assert.fail('nothing is scraped');
  collectAlerts(metrics, never);
  collectForecasts(metrics, never);
  collectService(metrics, never);
  const rows = registry.getMetricsAsArray().map((metric) => {
    const {
      name,
      help,
      type,
      labelNames = [],
    } = metric as unknown as {
      readonly name: string;
      readonly help: string;
      readonly type: string;
      readonly labelNames?: readonly string[];
    };
    return [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help.replaceAll('|', '/')];
  });
  for (const { name, help } of Object.values(SCORE_GAUGES)) {
    rows.push([`\`${name}\``, 'gauge', '[its series](monitoring.md#scores-in-prometheus)', help]);
  }
  const all = [['metric', 'type', 'labels', 'meaning'], ...rows.sort(([a], [b]) => (a < b ? -1 : 1))];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`;
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return `${HEAD}\n${[line(all[0]), rule, ...all.slice(1).map(line)].join('\n')}\n`;
}
