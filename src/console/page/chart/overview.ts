import type { ShownScores } from '../../view/scores/shown-scores.ts';
import { sparklineOf } from '../../view/scores/sparkline.ts';
import type { Props } from '../element/hooks.ts';
import { html, type Shown } from '../element/html.ts';

const WIDTH = 1_000;
const HEIGHT = 44;

/** All that is kept of a series, with the stretch that the chart shows. A press moves the stretch there. */
export function Overview({
  whole,
  range,
  events,
  onRange,
}: Props<'range' | 'events' | 'onRange'> & { readonly whole: ShownScores }): Shown {
  const [first, last] = [whole.timestampMs[0], whole.timestampMs.at(-1)];
  // Without scores it is empty, and keeps its place.
  if (first === undefined || last === undefined || last <= first)
    return html`<svg class="overview" aria-hidden="true" />`;
  const values = { ...whole, lo: whole.lo.map(() => null), hi: whole.hi.map(() => null) };
  const { line } = sparklineOf(values, { width: WIDTH, height: HEIGHT });
  const x = (at: number) => Math.min(WIDTH, Math.max(0, ((at - first) / (last - first)) * WIDTH));
  const [left, right] = [x(range.from), x(range.to)];
  const move = (event: PointerEvent) => {
    if (event.buttons !== 1) return;
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const middle = first + ((event.clientX - box.left) / box.width) * (last - first);
    const half = (range.to - range.from) / 2;
    onRange({ from: Math.round(middle - half), to: Math.round(middle + half) });
  };
  return html`<svg class="overview" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true"
    onPointerDown=${move} onPointerMove=${move}>
    ${events.map(({ startedAtMs, endedAtMs }) => {
      const start = x(startedAtMs);
      return html`<rect class="spark-event" x=${start} y="0" width=${Math.max(2, x(endedAtMs ?? last) - start)}
        height=${HEIGHT} />`;
    })}
    <path class="spark-line" d=${line} />
    <rect class="overview-window" x=${left} y="1" width=${Math.max(4, right - left)} height=${HEIGHT - 2} />
  </svg>`;
}
