/** What the service answers, as far as the pages read it, and how it becomes what they show. */
import type { AnomalyKind, ArrivedScore, Direction, SeenEvent, SeenSeries, ShownScores } from '../../view/seen.ts';

export interface WireEvent {
  readonly event_id: string;
  readonly detector: string;
  readonly series_id: string | null;
  readonly group_id: string | null;
  readonly kind: string;
  readonly direction: string;
  readonly started_at: number;
  readonly peak_at: number;
  readonly updated_at: number;
  readonly ended_at: number | null;
  readonly severity: number | null;
  readonly grade: number | null;
  readonly value: number | null;
  readonly expected: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly alarms: number;
  readonly observations: number;
  readonly close_reason: string | null;
  readonly summary: string;
  readonly unusual: string | null;
  readonly members: readonly { readonly series_id: string; readonly share: number }[];
  readonly labels: Readonly<Record<string, string>>;
  readonly acknowledged?: { readonly by: string } | null;
  readonly muted?: { readonly until: number; readonly reason: string } | null;
  readonly label?: { readonly real: boolean } | null;
}

export function seenEvent(wire: WireEvent): SeenEvent {
  return {
    id: wire.event_id,
    detector: wire.detector,
    series: wire.series_id ?? wire.group_id ?? '',
    group: wire.group_id,
    kind: wire.kind as AnomalyKind,
    direction: wire.direction as Direction,
    startedAt: wire.started_at,
    peakAt: wire.peak_at,
    updatedAt: wire.updated_at,
    endedAt: wire.ended_at,
    severity: wire.severity,
    grade: wire.grade,
    value: wire.value,
    expected: wire.expected,
    lo: wire.lo,
    hi: wire.hi,
    alarms: wire.alarms,
    observations: wire.observations,
    closeReason: wire.close_reason,
    summary: wire.summary,
    unusual: wire.unusual,
    members: wire.members.map(({ series_id, share }) => ({ series: series_id, share })),
    labels: wire.labels,
    acknowledgedBy: wire.acknowledged?.by ?? null,
    mutedUntil: wire.muted?.until ?? null,
    muteReason: wire.muted?.reason ?? null,
    real: wire.label?.real ?? null,
  };
}

export interface WireSeries {
  readonly id: string;
  readonly detector: string;
  readonly group: string | null;
  readonly timestamp: number;
  readonly value: number | null;
  readonly forecast: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly grade: number | null;
  readonly alarm: boolean;
  readonly state: string;
  readonly recent?: readonly (number | null)[];
}

export function seenSeries(wire: WireSeries): SeenSeries {
  const { id, detector, group, timestamp, value, grade, state, alarm, recent = [] } = wire;
  return { id, detector, group, at: timestamp, value, grade, state, alarm, recent };
}

export function arrivedScore(wire: WireSeries): ArrivedScore {
  const { id, timestamp, value, forecast, lo, hi, grade, alarm } = wire;
  return { series: id, at: timestamp, value, forecast, lo, hi, grade, alarm };
}

export interface WireScores {
  readonly detector: string;
  readonly group: string | null;
  readonly bucket_ms: number | null;
  readonly timestamp: readonly number[];
  readonly value: readonly (number | null)[];
  readonly value_min: readonly (number | null)[];
  readonly value_max: readonly (number | null)[];
  readonly forecast: readonly (number | null)[];
  readonly lo: readonly (number | null)[];
  readonly hi: readonly (number | null)[];
  readonly grade: readonly (number | null)[];
  readonly alarms: readonly number[];
}

export function scoreColumns(wire: WireScores): ShownScores {
  const { timestamp, value, forecast, lo, hi, grade, alarms, value_min, value_max, bucket_ms } = wire;
  const alarm = alarms.map((count) => count > 0);
  const downsampled = bucket_ms !== null;
  return { at: timestamp, value, forecast, lo, hi, grade, alarm, min: value_min, max: value_max, downsampled };
}
