import { ServiceError } from '../../service-error.ts';
import { createApp } from './app.ts';
import type { AppServices } from './exchange/app-services.ts';

export interface HttpServerOptions extends Omit<AppServices, 'largeWork'> {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
}

export interface HttpServer {
  readonly url: string;
  /** Stops accepting connections and waits for open requests, at most `msMax`; then closes their connections. */
  close(msMax: number): Promise<void>;
}

/** Throws a ServiceError `configuration` when the address cannot be bound. */
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
