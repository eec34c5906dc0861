import type { Migration } from './migration.ts';

/** Version 3: an index to find expired minutes. */
export const usageByTime: Migration = () => ['CREATE INDEX usage_minutes_by_time ON usage_minutes (minute_at)'];
