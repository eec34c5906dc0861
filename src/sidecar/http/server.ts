import { ServiceError } from '../../service-error.ts';
import { createApp } from './app.ts';
import type { AppServices } from './exchange/app-services.ts';

export interface HttpServerOptions extends AppServices {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}

export interface HttpServer {
  readonly url: string;
  /** Takes no more connections and waits for the requests that are there, at most `msMax`; then it hangs up. */
  close(msMax: number): Promise<void>;
}

/** Throws a ServiceError `configuration` when it cannot listen there. */
export async function startHttpServer({ host, port, ...services }: HttpServerOptions): Promise<HttpServer> {
  const app = await createApp(services);
  let url: string;
  try {
    url = await app.listen({ host, port });
  } catch (error) {
    await app.close();
    const text = `${host}:${port} cannot be listened on (${(error as Error).message}); set HTTP_HOST and HTTP_PORT`;
    throw new ServiceError('configuration', text, { cause: error });
  }
  return {
    url,
    async close(msMax) {
      const deadline = setTimeout(() => app.server.closeAllConnections(), msMax);
      await app.close();
      clearTimeout(deadline);
    },
  };
}
