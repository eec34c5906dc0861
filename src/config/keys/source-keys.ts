import { httpUrl } from '../options/option-kinds.ts';
import { durationMs, entryName, type Kind, text } from '../schema/kinds.ts';
import { byName, defaulted, optional, required, section } from '../schema/schema.ts';

/** A user or password inside it would reach logs; the problem does not repeat them either. */
const shownUrl: Kind<string> = {
  ...httpUrl,
  read(node, place) {
    const hidden = node.kind === 'scalar' && String(node.value).includes('@');
    return httpUrl.read(hidden ? { ...node, value: 'a URL that is not shown' } : node, place);
  },
};

const STEP_MS_MIN = 1_000;
const DAY_MS = 86_400_000;
const HISTORY_MS_MAX = 3_660 * DAY_MS;

/** `source` of a detectors file. */
export const prometheusSource = section(
  {
    name: defaulted(
      entryName,
      'prometheus',
      'Unique. Identifies the position, and names series whose result has no name.',
    ),
    url: required(shownUrl, 'Prometheus or a compatible service; it may be private.', 'prometheus'),
    query: required(text, 'PromQL. Each series of its result is a series of the input.'),
    stepMs: required(durationMs, 'Step of its values, as `freq` of the detectors.', 'step'),
    delayMs: defaulted(
      durationMs,
      '30s',
      'How long after a step its values are queried: scrapes and rules are late.',
      'delay',
    ),
    headers: optional(
      byName(text, { pattern: /^[A-Za-z0-9-]{1,100}$/, expected: 'the name of a header', max: 20 }),
      'Further headers, such as X-Scope-OrgID: each names the variable that holds its value.',
    ),
    historyMs: defaulted(durationMs, '28d', 'How far back the first request goes; 0s: from now on.', 'history'),
  },
  ({ name, url, query, stepMs, delayMs, historyMs, headers }, place) => {
    const within = (key: string, kind: Kind<number>, ms: number | undefined, [min, max]: readonly [number, number]) => {
      if (ms === undefined || (ms >= min && ms <= max)) return;
      place.problem(key, `${kind.expected}, from ${min / 1_000}s to ${max / 1_000}s`, `${ms / 1_000}s`);
    };
    within('step', durationMs, stepMs, [STEP_MS_MIN, DAY_MS]);
    within('delay', durationMs, delayMs, [0, DAY_MS]);
    within('history', durationMs, historyMs, [0, HISTORY_MS_MAX]);
    if (url === undefined || query === undefined || stepMs === undefined) return undefined;
    return { name, url, query, stepMs, delayMs, historyMs, headers: Object.fromEntries<string>(headers ?? []) };
  },
);

/** Credentials are options of the process: headers are the names of variables that hold their values. */
export type PrometheusSource = NonNullable<ReturnType<typeof prometheusSource.read>>;
