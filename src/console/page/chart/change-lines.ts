import type uPlot from 'uplot';
import type { ShownChange } from '../../../api/wire/schema/operations/change-schema.ts';

export type DrawnChange = Pick<ShownChange, 'time'>;

export function drawChangeLines({ ctx, bbox, valToPos }: uPlot, changes: readonly DrawnChange[], colour: string): void {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { time } of changes) {
    const x = Math.round(valToPos(time, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
