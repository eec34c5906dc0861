/** A member of the consumer group, and what it owned when it joined. */
export interface GroupMember {
  readonly memberId: string;
  /** The generation in which it was given `owned`. The newest one counts where two members claim a partition. */
  readonly generation: number;
  /** In the order in which it took them. */
  readonly owned: readonly number[];
}

/**
 * Divides the partitions evenly. Each member keeps what it owned, as far as that is fair, and the others take what is
 * left: a partition that moves costs a restore. A member gives up what it took last, and may not have restored: when a
 * worker is killed, the others own its partitions until its successor joins. The result depends on the arguments only,
 * not on the order of members and partitions.
 */
export function assignSticky(
  members: readonly GroupMember[],
  partitions: readonly number[],
): ReadonlyMap<string, readonly number[]> {
  const owners = newestOwners(members, new Set(partitions));
  const kept = new Map<string, number[]>(
    members.map((member) => [member.memberId, member.owned.filter((partition) => owners.get(partition) === member)]),
  );
  const unowned = partitions.filter((partition) => !owners.has(partition));
  // Those who own most get the shares that are larger by one, so that fewer partitions move.
  const shares = [...kept].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
  const least = Math.floor(partitions.length / members.length);
  const larger = partitions.length % members.length;
  const sizeOf = (turn: number) => least + (turn < larger ? 1 : 0);
  for (const [turn, [, share]] of shares.entries()) unowned.push(...share.splice(sizeOf(turn)));
  unowned.sort(ascending);
  for (const [turn, [, share]] of shares.entries()) {
    share.push(...unowned.splice(0, sizeOf(turn) - share.length));
    share.sort(ascending);
  }
  return kept;
}

/** Partitions that a member was assigned, in the order in which it took them. */
export function inOrderOfTaking(before: readonly number[], assigned: readonly number[]): readonly number[] {
  const kept = before.filter((partition) => assigned.includes(partition));
  return [...kept, ...assigned.filter((partition) => !kept.includes(partition))];
}

function newestOwners(members: readonly GroupMember[], known: ReadonlySet<number>): Map<number, GroupMember> {
  const owners = new Map<number, GroupMember>();
  for (const member of [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))) {
    for (const partition of member.owned) {
      const other = owners.get(partition);
      if (known.has(partition) && (other === undefined || member.generation > other.generation)) {
        owners.set(partition, member);
      }
    }
  }
  return owners;
}

const ascending = (one: number, other: number) => one - other;
