import type { ApiKey } from '../../store/keys/api-keys.ts';

/** The key of a request, and the id of that request. */
export interface Caller {
  readonly key: ApiKey;
  readonly requestId: string;
}
