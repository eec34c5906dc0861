import assert from 'node:assert/strict';
import { ALARM_STATE, NO_VERDICT, type Verdict } from '../alarm/alarm.ts';
import type { Detection } from '../alarm/detection.ts';
import { GROUP_SCALES } from '../alarm/group-unusualness.ts';
import { accumulatedScore, calibrateAccumulation } from '../calibration/accumulation.ts';
import { type Calibration, calibrate } from '../calibration/calibration.ts';
import { windowStartOf } from '../calibration/cutoff-grid.ts';
import type { DetectionSettings } from '../calibration/settings.ts';
import { CALIBRATION_WINDOWS_MIN, oneSidedThreshold } from '../calibration/threshold.ts';
import { type GroupVerdict, judgeGroup } from '../memory/group-season.ts';
import type { SeriesMemory } from '../memory/series-memory.ts';
import { SeriesDetector } from './series-detector.ts';

export interface GroupDetection extends Verdict {
  /** One per member, in the order the members were added. Their own flags do not count; `anomaly` below does. */
  readonly members: readonly Detection[];
  /** Standardised accumulated score of the time step; NaN if there is none. */
  readonly accumulatedScore: number;
  /** True if enough forecasted samples came before the window for the flag to count. */
  readonly calibrated: boolean;
  /** The time step is anomalous: every member observed in it is flagged. */
  readonly anomaly: boolean;
}

/**
 * Online detection on a group of series that share time steps: one threshold on the accumulated score.
 * All members have the same position; one that joins late has missing values before.
 */
export class GroupDetector {
  readonly settings: DetectionSettings;
  readonly members: SeriesDetector[] = [];
  readonly #memory: SeriesMemory;
  readonly #threshold: number;
  /** Its members have it in common: see SeriesDetector. */
  phase: number;
  positions = 0;
  accumulation: Calibration = calibrate(new Float32Array(0));
  /** See alarm.ts. */
  readonly alarmState = new Float64Array(ALARM_STATE.count);
  /** See group-unusualness.ts. */
  readonly scaleState = new Float64Array(GROUP_SCALES.count);

  constructor(settings: DetectionSettings, memory: SeriesMemory, phase = 0) {
    this.settings = settings;
    this.phase = phase;
    this.#memory = memory;
    this.#threshold = oneSidedThreshold(settings.level);
  }

  /** First position of the open window. */
  get windowStart(): number {
    return windowStartOf(this.positions, this, this.settings);
  }

  /** A member that joins late is one whose values were missing so far: its open window is replayed without them. */
  addMember(): SeriesDetector {
    const member = this.#createMember();
    member.startAt(Math.max(0, this.windowStart - this.settings.detectionSize));
    const ready = this.members.length > 0 && !this.forecastDue;
    while (member.positions < this.positions || (member.forecastDue && ready)) {
      if (member.forecastDue) member.forecasted(null);
      else member.score(Number.NaN);
    }
    this.members.push(member);
    return member;
  }

  /** Forecasts from the present position are needed before the next time step. */
  get forecastDue(): boolean {
    return this.members.some((member) => member.forecastDue);
  }

  /**
   * Scores the next time step. `values[i]` belongs to member i; NaN if it was not observed. Seasonal profiles learn
   * of it where its time is given.
   */
  score(values: ArrayLike<number>, timestampMs = Number.NaN): GroupDetection {
    assert(values.length === this.members.length, 'one value a member');
    const { windowStart } = this;
    const accumulation = this.accumulation;
    const detections = this.members.map((member, i) => member.score(values[i]));
    this.positions++;
    const scores = detections.map((detection) => detection.score);
    const score = accumulatedScore(scores, accumulation);
    const calibrated = accumulation.samples >= CALIBRATION_WINDOWS_MIN * this.settings.detectionSize;
    if (this.windowStart !== windowStart) this.recalibrate();
    const { verdict, seasons } = this.#verdictOn(detections, values, timestampMs);
    return {
      members: seasons.length === 0 ? detections : detections.map((each, i) => ({ ...each, season: seasons[i] })),
      accumulatedScore: score,
      calibrated,
      anomaly: calibrated && score > this.#threshold,
      ...verdict,
    };
  }

  #verdictOn(detections: readonly Detection[], values: ArrayLike<number>, timestampMs: number): GroupVerdict {
    const { settings, alarmState: alarm, scaleState: scales } = this;
    const { alarmRate } = settings;
    if (alarmRate === null) return { verdict: NO_VERDICT, seasons: [] };
    const rows = detections.map(({ unusual }, i) => ({ rings: this.members[i].rings, value: values[i], unusual }));
    return judgeGroup({ alarm, scales }, rows, { timestampMs, settings: { ...settings, alarmRate } });
  }

  /** Forgets a member; what the group is calibrated on stays as it is until the next window opens. */
  removeMember(index: number): void {
    const [member] = this.members.splice(index, 1);
    member!.release();
  }

  /** Continues a state that was kept elsewhere: members are added without a past and filled by the caller. */
  resumeAt(positions: number, accumulation: Calibration): void {
    this.positions = positions;
    this.accumulation = accumulation;
  }

  resumeMember(): SeriesDetector {
    const member = this.#createMember();
    this.members.push(member);
    return member;
  }

  #createMember(): SeriesDetector {
    const member = new SeriesDetector(this.#memory);
    member.phase = this.phase;
    return member;
  }

  /** Recomputes the accumulation from the members' residuals; needed when a window opens and after a restore. */
  recalibrate(): void {
    this.accumulation = calibrateAccumulation(
      this.members.map((member) => {
        const residuals = member.rings.residuals(member.residualCount);
        return { residuals, places: member.residualPlaces(residuals.length), yardstick: member.yardstick() };
      }),
    );
  }
}
