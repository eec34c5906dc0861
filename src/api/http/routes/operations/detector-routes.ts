import type { DetectorRow } from '../../../../history/port/history-port.ts';
import { type Diagnostic, diagnosticText } from '../../../../records/diagnostics/diagnostic.ts';
import { shadowedGlobs } from '../../../../records/diagnostics/shadowed-globs.ts';
import { addDetectorVersion, type DetectorVersion, listDetectorVersions } from '../../../../store/detector-versions.ts';
import { labelledReviews } from '../../../../store/reviews/event-reviews.ts';
import { audit } from '../../../accounts/audit-log.ts';
import { changedDetectors } from '../../../operations/detector-changes.ts';
import { type LabelledEvent, labelledEvents } from '../../../operations/labels-raised.ts';
import { type DescribedDetector, type DetectorsPort, operationsOf } from '../../../operations/operations.ts';
import { fieldProblem, HttpProblem, invalidRequest } from '../../../wire/problem.ts';
import { described } from '../../../wire/schema/answer-schemas.ts';
import { DetectorsAnswer, DetectorsRequest, DetectorsSaved } from '../../../wire/schema/operations/detectors-schema.ts';
import type { App, AppServices } from '../../exchange/app-services.ts';
import { callerOf } from '../../exchange/require-key.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** A rate is meaningless if all series of a detector together were scored for less. */
const JUDGED_MS_MIN = DAY_MS;

export function addDetectorRoutes(app: App, services: AppServices): void {
  const { operations, store, nowMs } = services;
  addSaving(app, services);
  app.get('/v1/detectors', described(DetectorsAnswer, {}, 404), async () => {
    const { detectors: port, reader, cluster } = operationsOf(operations);
    const [versions, counts, found, reviews] = await Promise.all([
      listDetectorVersions(store),
      reader.detectors(),
      // Where Kafka cannot be reached, the detectors are shown all the same.
      cluster.diagnostics().catch(() => []),
      labelledReviews(store, { fromMs: 0, toMs: nowMs() }),
    ]);
    const trueEvents = labelledEvents(reviews).filter(({ real }) => real);
    const { version, text } = versions[0] ?? (await fileVersion(port));
    const described = await port.describe(text);
    const detectors = described.kind === 'detectors' ? described.detectors : [];
    return {
      version,
      text,
      can_save: port.publish !== null,
      detectors: detectors.map((detector) => {
        const row = counts.find((each) => each.detector === detector.name) ?? null;
        const isOf = ({ event }: LabelledEvent) =>
          event.detector === detector.name && event.startedAtMs >= (row?.sinceMs ?? 0);
        return { ...shown(detector, row), events_true: trueEvents.filter(isOf).length };
      }),
      findings: [...shadowedGlobs(detectors), ...found].map(shownDiagnostic),
      versions: versions.map(({ version, savedAtMs, savedBy, comment }) => {
        return { version, saved_at: savedAtMs, saved_by: savedBy, comment };
      }),
    };
  });
}

function addSaving(app: App, { operations, store, logger, nowMs }: AppServices): void {
  app.put('/v1/detectors', described(DetectorsSaved, { body: DetectorsRequest }, 404, 409), async (request) => {
    const { detectors: port } = operationsOf(operations);
    const { base_version: base, dry_run: dryRun = false, comment = null } = request.body;
    const versions = await listDetectorVersions(store);
    const current = versions[0] ?? (await fileVersion(port));
    const text = await textToSave(versions, port, request.body);
    const [before, after] = await Promise.all([port.describe(current.text), port.describe(text)]);
    if (after.kind === 'problems') {
      throw invalidRequest(after.problems.map((problem) => fieldProblem(['body', 'text'], problem)));
    }
    const changes = changedDetectors(before.kind === 'detectors' ? before.detectors : [], after.detectors);
    const warnings = shadowedGlobs(after.detectors).map((diagnostic) => diagnosticText(diagnostic));
    if (dryRun) return { version: null, changes, warnings };
    const { publish } = port;
    if (publish === null) throw new HttpProblem(409, 'Workers do not listen for detectors: nothing was saved');
    if (base !== current.version) throw changedMeanwhile(current.version);
    const actor = callerOf(request);
    const savedAtMs = nowMs();
    const next = { version: (current.version ?? 0) + 1, text, comment, savedAtMs, savedBy: actor.key.name };
    await store.transaction(async (sql) => {
      if (!(await addDetectorVersion(sql, next))) throw changedMeanwhile(next.version);
      const detail = { changes: changes.length };
      const event = {
        happenedAtMs: savedAtMs,
        action: 'detectors-saved',
        subject: String(next.version),
        detail,
      } as const;
      await audit(sql, logger, { actor, event });
      // Last: where Kafka refuses, nothing is saved.
      await publish(next);
    });
    return { version: next.version, changes, warnings };
  });
}

function shownDiagnostic(diagnostic: Diagnostic) {
  return {
    kind: diagnostic.kind,
    detector: 'detector' in diagnostic ? diagnostic.detector : null,
    text: diagnosticText(diagnostic),
  };
}

function changedMeanwhile(version: number | null): HttpProblem {
  return new HttpProblem(409, `Version ${version} was saved since then: compare and save again`);
}

/** The file counts until a version is saved. */
async function fileVersion(port: DetectorsPort): Promise<{ readonly version: null; readonly text: string }> {
  return { version: null, text: await port.fileText() };
}

/** Number of the version that is the detectors file of this service. */
const FILE_VERSION = 0;

async function textToSave(
  versions: readonly DetectorVersion[],
  port: DetectorsPort,
  { text, roll_back_to: wanted }: { readonly text?: string; readonly roll_back_to?: number },
): Promise<string> {
  if ((text === undefined) === (wanted === undefined)) {
    throw invalidRequest([fieldProblem(['body', 'text'], 'either text or roll_back_to must be given')]);
  }
  if (text !== undefined) return text;
  if (wanted === FILE_VERSION) return port.fileText();
  const found = versions.find(({ version }) => version === wanted);
  if (found === undefined)
    throw invalidRequest([fieldProblem(['body', 'roll_back_to'], 'this version does not exist')]);
  return found.text;
}

function shown({ digest: _, alarmsPerWeek, ...detector }: DescribedDetector, row: DetectorRow | null) {
  const { series: all, ...rest } = detector;
  const { judgedMs = 0, eventsJudged = 0 } = row ?? {};
  return {
    ...rest,
    series: [...all],
    series_count: row?.series ?? 0,
    group_count: row?.groups ?? 0,
    observations: row?.observations ?? 0,
    since: row?.sinceMs ?? null,
    alarms_promised_per_week: alarmsPerWeek,
    events_per_week: judgedMs < JUDGED_MS_MIN ? null : (eventsJudged / judgedMs) * WEEK_MS,
    events: row?.events ?? 0,
    events_open: row?.eventsOpen ?? 0,
  };
}
