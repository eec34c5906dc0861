/** Detectors and the state of the service, as far as the pages read them. */

export interface WireDetector {
  readonly name: string;
  readonly series: readonly string[];
  readonly group: string | null;
  readonly model: string;
  readonly settings: Readonly<Record<string, string | number | boolean | null>>;
  readonly series_count: number;
  readonly group_count: number;
  readonly observations: number;
  readonly since: number | null;
  readonly alarms_promised_per_week: number | null;
  readonly alarms_per_week: number | null;
  readonly events: number;
  readonly events_open: number;
}

export interface WireDetectors {
  readonly version: number | null;
  readonly text: string;
  readonly can_save: boolean;
  readonly detectors: readonly WireDetector[];
  readonly findings: readonly { readonly kind: string; readonly detector: string | null; readonly text: string }[];
  readonly versions: readonly {
    readonly version: number;
    readonly saved_at: number;
    readonly saved_by: string;
    readonly comment: string | null;
  }[];
}

export interface WireChange {
  readonly detector: string;
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly starts_over: boolean;
}

export interface WireSaved {
  readonly version: number | null;
  readonly changes: readonly WireChange[];
  readonly warnings: readonly string[];
}

export interface WireRaisedEvent {
  readonly kind: string;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly grade: number | null;
  readonly summary: string;
}

export interface WireRaised {
  readonly events: readonly WireRaisedEvent[];
  readonly alarms: number;
  readonly alarms_per_week: number | null;
}

/** Events that people labelled so, and how many of them are raised before and after. */
export interface WireLabelled {
  readonly labelled: number;
  readonly before: number;
  readonly after: number;
}

export interface WireWhatIf {
  readonly series: string;
  readonly from: number;
  readonly to: number;
  readonly observations: number;
  readonly before: WireRaised;
  readonly after: WireRaised;
  readonly labels: { readonly real: WireLabelled; readonly not_real: WireLabelled };
  /** The detectors file with what was tried. */
  readonly text: string;
}

interface WirePlace {
  readonly topic: string;
  readonly partition: number;
  readonly next_offset: number | null;
  readonly end_offset: number | null;
  readonly lag: number | null;
}

export interface WireService {
  readonly history: {
    readonly kept: boolean;
    readonly store: string | null;
    readonly series: number;
    readonly scores: number;
    readonly events: number;
    readonly bytes: number;
    readonly oldest: number | null;
    readonly days_max: number;
    readonly gb_max: number;
    readonly problem: string | null;
    readonly partitions: readonly WirePlace[];
  };
  readonly workers: {
    readonly group: string;
    readonly members: number;
    readonly partitions: readonly (WirePlace & { readonly owner: string | null })[];
  } | null;
  readonly dead_letters: readonly { readonly reason: string; readonly letters: number; readonly newest_at: number }[];
  readonly jobs: { readonly pending: number; readonly running: number };
  readonly tuned_models: number;
}

export interface WireDeadLetter {
  readonly id: string;
  readonly reason: string;
  readonly detail: string;
  readonly at: number;
  readonly series: string | null;
  readonly input: { readonly topic: string; readonly partition: number; readonly offset: number };
  readonly value: string | null;
  readonly truncated: boolean;
  readonly redriven: boolean;
}

export interface WireKey {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly role: string;
  readonly begins: string;
  readonly state: string;
  readonly credits: number | null;
  readonly created_at: string;
}
