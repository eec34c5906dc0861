import type { Migration } from './migration.ts';

/** Version 3: minutes whose time is over are found without reading all others. */
export const usageByTime: Migration = () => ['CREATE INDEX usage_minutes_by_time ON usage_minutes (minute_at)'];
