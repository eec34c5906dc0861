import type { ClusterLink } from './connection.ts';
import { refreshLeaders } from './leader.ts';

interface SharedLinkState {
  readonly link: Promise<ClusterLink>;
  users: number;
}

/**
 * One link for all partition sessions of a worker. A session that ends gives it back. Where the metadata cannot be
 * refreshed it is replaced for those that come next, and closed when the last session that has it ends.
 */
export class SharedLink {
  readonly #connect: () => Promise<ClusterLink>;
  #newest: SharedLinkState | null = null;

  constructor(connect: () => Promise<ClusterLink>) {
    this.#connect = connect;
  }

  /** Its metadata are fresh. `destroy` gives it back. Throws kafkajs's errors. */
  async take(): Promise<ClusterLink> {
    const isNew = this.#newest === null;
    this.#newest ??= { link: this.#connect(), users: 0 };
    const taken = this.#newest;
    taken.users++;
    let given = false;
    const giveBack = () => {
      if (!given) this.#giveBack(taken);
      given = true;
    };
    try {
      const link = await taken.link;
      if (!isNew) await refreshLeaders(link.cluster);
      return { ...link, destroy: giveBack };
    } catch (error) {
      if (this.#newest === taken) this.#newest = null;
      giveBack();
      throw error;
    }
  }

  #giveBack(state: SharedLinkState): void {
    if (--state.users > 0) return;
    if (this.#newest === state) this.#newest = null;
    state.link.then(
      (link) => link.destroy(),
      () => undefined,
    );
  }
}
