import type { GroupState } from '../../checkpoint/group-state.ts';
import { openStateBytesMax } from '../../checkpoint/series/series-state.ts';
import type { LoadedDetector } from '../unit/loaded-detector.ts';
import { OPEN_POINTS_MAX } from '../unit/open-steps.ts';

/** Most members of a group; fewer where windows are long. Observations of a further one go to the dead letters. */
const GROUP_MEMBERS_MAX = 1_000;
/** The open state of a group, pending steps included, is one record, below the broker's limit of 1 MiB. */
const GROUP_STATE_BYTES_MAX = 700_000;
const PENDING_BYTES = 32;
/** Time and value of a point in an open step, at most. */
const POINT_BYTES = 14;

type MemberNames = Pick<GroupState, 'members' | 'joining' | 'pending'>;

/** True if a group may have one more series. Those of pending steps and those that join count as members. */
export function hasRoomFor(group: MemberNames, series: string, loaded: LoadedDetector): boolean {
  if (group.members.some((member) => member.series === series)) return true;
  return haveRoom(idsOf(group).add(series), loaded);
}

function idsOf({ members, joining, pending }: MemberNames): Set<string> {
  const ids = new Set([...members.map((member) => member.series), ...joining.keys()]);
  for (const { observations } of pending) for (const id of observations.keys()) ids.add(id);
  return ids;
}

/** Forgets departed members, the first to leave first, until there is room for one more series. */
export function makeRoom(
  group: MemberNames & Pick<GroupState, 'departed' | 'changes'>,
  series: string,
  loaded: LoadedDetector,
): void {
  const { members, departed, changes } = group;
  if (departed.size === 0 || members.some((member) => member.series === series)) return;
  const ids = new Set([...idsOf(group), ...departed.keys(), series]);
  for (const id of departed.keys()) {
    if (haveRoom(ids, loaded)) return;
    departed.delete(id);
    ids.delete(id);
    changes.everything();
  }
}

function haveRoom(series: ReadonlySet<string>, { layout, config }: LoadedDetector): boolean {
  const openBytes = openStateBytesMax(layout);
  let bytes = 0;
  for (const id of series) bytes += openBytes + (Buffer.byteLength(id) + PENDING_BYTES) * (config.settings.grace + 3);
  const pointBytes = config.settings.aggregate === undefined ? 0 : OPEN_POINTS_MAX * POINT_BYTES;
  return series.size <= GROUP_MEMBERS_MAX && bytes + pointBytes <= GROUP_STATE_BYTES_MAX;
}

export function whyFull(group: string | null): string {
  return `group ${JSON.stringify(group)} has as many members as allowed`;
}
