/** Back-off after the first failure. Each further one doubles it, up to RETRY_MS_MAX. */
export const RETRY_MS_MIN = 200;
export const RETRY_MS_MAX = 5_000;
