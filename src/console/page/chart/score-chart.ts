import './known-language.ts';
import uPlot from 'uplot';
import type { EventAnswer } from '../../../api/wire/schema/operations/event-schema.ts';
import { axisTexts } from '../../../records/text/quantity-text.ts';
import { urgency } from '../../../records/urgency.ts';
import { panned, type ShownScores, type TimeRange, zoomed } from '../../view/scores/shown-scores.ts';
import { type DrawnChange, drawChangeLines } from './change-lines.ts';
import { type Palette, readPalette } from './palette.ts';
import { shownDate, timeLabels } from './time-axis.ts';

export interface ChartData {
  readonly columns: ShownScores;
  readonly events: readonly EventAnswer[];
  readonly changes: readonly DrawnChange[];
  readonly chosen: string | null;
  readonly range: TimeRange;
  readonly nowMs: number;
  /** Earlier values at the same times; null: none are compared. */
  readonly compared: readonly (number | null)[] | null;
  readonly axis: ValueAxis;
  /** Unit of the values; null if there is none. */
  readonly unit: string | null;
}

/** The axis of values: fitted to them, from zero on, or logarithmic. */
export type ValueAxis = 'fit' | 'zero' | 'log';

interface ChartHandlers {
  onRange(range: TimeRange): void;
  /** The point under the cursor; null outside the chart. */
  onPoint(index: number | null): void;
}

const VALUE_HEIGHT = 320;
const GRADE_HEIGHT = 90;
/** Aligns the axes of both charts. */
const AXIS_WIDTH = 64;
const AXIS_WIDTH_NARROW = 44;
const NARROW = 480;
const FONT = '12px system-ui, "Open Sans", sans-serif';
const ALARM_RADIUS = 3.5;

/** Value, forecast and interval above, the grade below, and events as shaded stretches of both. */
export class ScoreChart {
  readonly #value: uPlot;
  readonly #grade: uPlot;
  readonly #place: HTMLElement;
  #data: ChartData;
  #palette: Palette;

  constructor(place: HTMLElement, data: ChartData, handlers: ChartHandlers) {
    this.#place = place;
    this.#data = data;
    this.#palette = readPalette(place);
    const width = Math.max(200, place.clientWidth);
    const cursor: uPlot.Cursor = {
      sync: { key: 'scores' },
      drag: { x: true, y: false, setScale: false },
      points: { show: false },
    };
    const shared = {
      width,
      cursor,
      ms: 1 as const,
      tzDate: shownDate,
      legend: { show: false },
      scales: { x: { time: true } },
    };
    const hooks = {
      drawClear: [(chart: uPlot) => this.#shade(chart)],
      setSelect: [(chart: uPlot) => this.#select(chart, handlers)],
      setCursor: [({ cursor: { idx } }: uPlot) => handlers.onPoint(idx ?? null)],
    };
    this.#value = new uPlot(
      {
        ...shared,
        scales: { ...shared.scales, y: valueScale(data.axis) },
        height: VALUE_HEIGHT,
        axes: [
          { ...this.#axis(), size: 44, values: timeLabels },
          { ...this.#axis(), size: axisWidth, values: (_, splits) => [...axisTexts(splits, data.unit)] },
        ],
        series: this.#valueSeries(),
        bands: [
          { series: [4, 3], fill: () => this.#palette.band },
          { series: [6, 5], fill: () => this.#palette.spread },
        ],
        hooks: { ...hooks, draw: [(chart) => this.#drawAlarms(chart)] },
      },
      this.#valueColumns(),
      place,
    );
    this.#grade = new uPlot(
      {
        ...shared,
        height: GRADE_HEIGHT,
        scales: { x: { time: true }, y: { range: [0, 1] } },
        axes: [
          { ...this.#axis(), values: () => [], size: 8 },
          { ...this.#axis(), size: axisWidth, splits: () => [0, 0.5, 1], values: () => ['0', '0.5', '1'] },
        ],
        series: [{}, { label: 'grade', paths: () => null, points: { show: false } }],
        hooks: { ...hooks, draw: [(chart) => this.#drawGrades(chart)] },
      },
      this.#gradeColumns(),
      place,
    );
    this.#showRange();
    for (const chart of [this.#value, this.#grade]) this.#followWheel(chart, handlers);
  }

  update(data: ChartData): void {
    const before = this.#data;
    this.#data = data;
    if (data.columns !== before.columns || data.compared !== before.compared) {
      this.#value.setData(this.#valueColumns(), false);
      this.#grade.setData(this.#gradeColumns(), false);
    }
    this.#showRange();
  }

  resize(width: number): void {
    this.#value.setSize({ width, height: VALUE_HEIGHT });
    this.#grade.setSize({ width, height: GRADE_HEIGHT });
  }

  recolour(): void {
    this.#palette = readPalette(this.#place);
    this.#value.redraw();
    this.#grade.redraw();
  }

  destroy(): void {
    this.#value.destroy();
    this.#grade.destroy();
  }

  #axis(): uPlot.Axis {
    return {
      font: FONT,
      stroke: () => this.#palette.muted,
      grid: { stroke: () => this.#palette.grid, width: 1 },
      ticks: { show: false },
    };
  }

  #valueSeries(): uPlot.Series[] {
    const hidden = (label: string): uPlot.Series => ({ label, points: { show: false }, width: 0 });
    return [
      {},
      { label: 'value', stroke: () => this.#palette.ink, width: 1.5, points: { show: false } },
      { label: 'forecast', stroke: () => this.#palette.forecast, width: 1.25, dash: [5, 4], points: { show: false } },
      hidden('lo'),
      hidden('hi'),
      hidden('min'),
      hidden('max'),
      { label: 'compared', stroke: () => this.#palette.muted, width: 1, points: { show: false } },
    ];
  }

  #valueColumns(): uPlot.AlignedData {
    const { timestampMs, value, forecast, lo, hi, value_min, value_max, bucket_ms } = this.#data.columns;
    const none = bucket_ms !== null ? null : timestampMs.map(() => null);
    const empty = timestampMs.map(() => null);
    const compared = this.#data.compared?.length === timestampMs.length ? this.#data.compared : empty;
    const rows = [value, forecast, lo, hi, none ?? value_min, none ?? value_max, compared];
    // A logarithm has no place for zero and below.
    const positive = (row: readonly (number | null)[]) => row.map((number) => (Number(number) > 0 ? number : null));
    return [timestampMs, ...(this.#data.axis === 'log' ? rows.map(positive) : rows)] as unknown as uPlot.AlignedData;
  }

  #gradeColumns(): uPlot.AlignedData {
    const { timestampMs, grade } = this.#data.columns;
    return [timestampMs, grade] as unknown as uPlot.AlignedData;
  }

  #showRange(): void {
    const { from, to } = this.#data.range;
    for (const chart of [this.#value, this.#grade]) chart.setScale('x', { min: from, max: to });
  }

  #shade(chart: uPlot): void {
    const { ctx, bbox } = chart;
    const { columns, events, nowMs, chosen } = this.#data;
    const newest = Math.max(nowMs, columns.timestampMs.at(-1) ?? 0);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { eventId, startedAtMs, firstAlarmAtMs, lastAlarmAtMs, endedAtMs } of events) {
      const left = chart.valToPos(startedAtMs, 'x', true);
      const right = chart.valToPos(endedAtMs ?? newest, 'x', true);
      ctx.fillStyle = eventId === chosen ? this.#palette.chosen : this.#palette.event;
      ctx.fillRect(left, bbox.top, Math.max(2, right - left), bbox.height);
      const first = chart.valToPos(firstAlarmAtMs, 'x', true);
      const width = Math.max(2, chart.valToPos(lastAlarmAtMs, 'x', true) - first);
      ctx.fillRect(first, bbox.top, width, bbox.height);
      ctx.fillStyle = this.#palette.alarm;
      ctx.fillRect(first, bbox.top, width, 2 * devicePixelRatio);
    }
    ctx.restore();
    drawChangeLines(chart, this.#data.changes, this.#palette.ink);
  }

  #drawAlarms(chart: uPlot): void {
    const { timestampMs, value, alarms } = this.#data.columns;
    const { ctx } = chart;
    const [first, last] = chart.series[0].idxs ?? [0, -1];
    const radius = ALARM_RADIUS * devicePixelRatio;
    ctx.save();
    ctx.fillStyle = this.#palette.alarm;
    for (let i = first; i <= last; i++) {
      const number = value[i];
      if (alarms[i] === 0 || number === null) continue;
      const x = chart.valToPos(timestampMs[i], 'x', true);
      const y = chart.valToPos(number, 'y', true);
      // A diamond: it differs from the line by its shape, not only by its colour.
      ctx.beginPath();
      ctx.moveTo(x, y - radius);
      ctx.lineTo(x + radius, y);
      ctx.lineTo(x, y + radius);
      ctx.lineTo(x - radius, y);
      ctx.fill();
    }
    ctx.restore();
  }

  #drawGrades(chart: uPlot): void {
    const { timestampMs, grade } = this.#data.columns;
    const { ctx, bbox } = chart;
    const [first, last] = chart.series[0].idxs ?? [0, -1];
    const bar = Math.max(1, Math.min(6 * devicePixelRatio, (bbox.width / Math.max(1, last - first)) * 0.7));
    const bottom = chart.valToPos(0, 'y', true);
    ctx.save();
    for (let i = first; i <= last; i++) {
      const number = grade[i];
      if (number === null || number === 0) continue;
      const x = chart.valToPos(timestampMs[i], 'x', true);
      const y = chart.valToPos(number, 'y', true);
      ctx.fillStyle = this.#palette.urgencies[urgency(number)];
      ctx.fillRect(x - bar / 2, y, bar, bottom - y);
    }
    ctx.restore();
  }

  #select(chart: uPlot, handlers: ChartHandlers): void {
    const { left, width } = chart.select;
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    if (width < 4) return;
    handlers.onRange({
      from: Math.round(chart.posToVal(left, 'x')),
      to: Math.round(chart.posToVal(left + width, 'x')),
    });
  }

  /** With Ctrl the wheel zooms, sideways or with Shift it moves in time; alone it scrolls the page. */
  #followWheel({ over, posToVal }: uPlot, { onRange }: ChartHandlers): void {
    over.addEventListener(
      'wheel',
      (event) => {
        const sideways = event.shiftKey ? event.deltaY : event.deltaX;
        if (event.ctrlKey) {
          event.preventDefault();
          onRange(zoomed(this.#data.range, event.deltaY > 0 ? 1.25 : 0.8, posToVal(event.offsetX, 'x')));
        } else if (sideways !== 0) {
          event.preventDefault();
          onRange(panned(this.#data.range, Math.sign(sideways) * 0.1));
        }
      },
      { passive: false },
    );
  }
}

function valueScale(axis: ValueAxis): uPlot.Scale {
  if (axis === 'log') return { distr: 3 };
  if (axis === 'fit') return {};
  return { range: (_chart, low, high) => [Math.min(0, low), Math.max(0, high) * 1.05 || 1] };
}

function axisWidth({ width }: uPlot): number {
  return width < NARROW ? AXIS_WIDTH_NARROW : AXIS_WIDTH;
}
