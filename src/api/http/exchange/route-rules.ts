import type { FastifyRequest } from 'fastify';
import type { KeyRole } from '../../../store/keys/key-role.ts';
import type { App } from './app-services.ts';

/** Role, price and limits of a route. */
export interface RouteRules {
  /** The least role of its key; null: it needs no key. */
  readonly role: KeyRole | null;
  /** `tokens`: every answer is charged before it is sent. */
  readonly price: 'tokens' | 'free';
  /** Calls in a minute: as many as the key may make; null: any number. */
  readonly perMinute: 'of-key' | null;
  /** Requests at once: as many as the key may make calls, or so many of one key to this route; null: any number. */
  readonly atOnce: 'of-key' | number | null;
  /** Bytes of a body, uncompressed; null: it takes none. */
  readonly bodyBytesMax: number | null;
  /**
   * Where its work waits for its turn. `owner`: large requests of one owner wait for each other; `scoring`: for the
   * sandbox that scores one file after the other.
   */
  readonly queue: 'owner' | 'jobs' | 'scoring' | null;
  /** Takes the bytes of the body as they are. `points`: of senders, which repeat what is refused for now. */
  readonly rawBody?: 'points' | 'message';
  /** The parameter `p` of the query may be the key, as clients of InfluxDB 1 send it. */
  readonly queryKey?: true;
  /** `own`: the handler decides how long its answer may be kept. */
  readonly cache: 'no-store' | 'own';
  /** Its name and summary in openapi.json, which does not describe a route without them. */
  readonly operation?: { readonly id: string; readonly summary: string };
}

/** Rules by method and path: `GET /v1/series`. A path that ends with `*` holds for all files below it. */
export type RouteTable = Readonly<Record<string, RouteRules>>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its row in the table of routes; absent for what is no route. */
    rules?: RouteRules;
  }
}

/** Gives every route that is added from now on its row. A route without one does not start: adding it throws. */
export function holdToTable(app: App, table: RouteTable): void {
  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const rules = rowOf(table, method === 'HEAD' ? 'GET' : method, route.url);
      if (rules === null) throw new Error(`${method} ${route.url} has no row in the table of routes`);
      const hasSchema = route.schema?.body !== undefined || rules.rawBody !== undefined;
      if (hasSchema !== (rules.bodyBytesMax !== null)) {
        throw new Error(`${method} ${route.url} has a schema of its body or a limit of its body, but not both`);
      }
      route.config = { ...route.config, rules };
    }
  });
}

function rowOf(table: RouteTable, method: string, path: string): RouteRules | null {
  const exact = `${method} ${path}`;
  if (Object.hasOwn(table, exact)) return table[exact];
  const above = Object.keys(table).find((row) => row.endsWith('/*') && exact.startsWith(row.slice(0, -1)));
  return above === undefined ? null : table[above];
}

/** The rules of the route of a request; null if there is no such route. */
export function rulesOf({ routeOptions }: FastifyRequest): RouteRules | null {
  return routeOptions.config?.rules ?? null;
}
