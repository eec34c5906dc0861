/** Provider at which people sign in, and the roles of their groups. The client's secret is a secret. */
export interface IdentityConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  readonly groupsClaim: string;
  /** Roles by group; `*` is whoever the provider lets in. */
  readonly roles: ReadonlyMap<string, 'viewer' | 'operator' | 'admin'>;
  readonly sessionMs: number;
}

/** Address, TLS, first key and limits of the HTTP service. */
export interface HttpConfig {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** PEM files, read again when they change; null: plain HTTP. */
  readonly tls: { readonly certPath: string; readonly keyPath: string } | null;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: readonly string[];
  /** Origins of web pages that may call the service; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** Open connections, and those of one address. */
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  /** The configured admin key. null: one is created where the store has none. */
  readonly apiKey: string | null;
  /** Time for which the service listens after SIGTERM, while it reports that it is not ready. */
  readonly drainMs: number;
  /** Jobs of an owner that wait or run. */
  readonly jobsInFlightMax: number;
  /** Memory of the process that runs jobs, MiB. */
  readonly jobMemoryMbMax: number;
  /** Fine-tuned models of an owner. */
  readonly finetunedModelsMax: number;
  /** null: people sign in with keys alone. */
  readonly identity: IdentityConfig | null;
}
