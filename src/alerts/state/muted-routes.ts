import { isWithin } from '../../calendar/local-times.ts';
import type { AlertRoute } from '../routes/alert-route.ts';

const MINUTE_MS = 60_000;

/** Which routes are muted. Their windows begin and end with a minute, so they are looked at once in each. */
export class MutedRoutes {
  readonly #routes: readonly AlertRoute[];
  #minute = -1;
  #muted: ReadonlySet<string> = new Set();

  constructor(routes: readonly AlertRoute[]) {
    this.#routes = routes;
  }

  has({ name }: AlertRoute, nowMs: number): boolean {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (this.#minute !== minute) {
      this.#minute = minute;
      const muted = this.#routes.filter(({ mute }) => mute.some(({ times }) => isWithin(times, nowMs)));
      this.#muted = new Set(muted.map((route) => route.name));
    }
    return this.#muted.has(name);
  }
}
