import type { ClusterLink } from './connection.ts';
import { refreshLeaders } from './leader.ts';

interface SharedLinkState {
  readonly link: Promise<ClusterLink>;
  users: number;
}

/**
 * One link for all partition sessions of a worker. A session that ends releases it. If the metadata cannot be
 * refreshed it is replaced for those that come next, and closed when the last session that has it ends.
 */
export class SharedLink {
  readonly #connect: () => Promise<ClusterLink>;
  #newest: SharedLinkState | null = null;

  constructor(connect: () => Promise<ClusterLink>) {
    this.#connect = connect;
  }

  /** Its metadata are fresh. `destroy` releases it. Throws kafkajs's errors. */
  async acquire(): Promise<ClusterLink> {
    const isNew = this.#newest === null;
    this.#newest ??= { link: this.#connect(), users: 0 };
    const acquired = this.#newest;
    acquired.users++;
    let released = false;
    const releaseOnce = () => {
      if (!released) this.#release(acquired);
      released = true;
    };
    try {
      const link = await acquired.link;
      if (!isNew) await refreshLeaders(link.cluster);
      return { ...link, destroy: releaseOnce };
    } catch (error) {
      if (this.#newest === acquired) this.#newest = null;
      releaseOnce();
      throw error;
    }
  }

  #release(state: SharedLinkState): void {
    if (--state.users > 0) return;
    if (this.#newest === state) this.#newest = null;
    state.link.then(
      (link) => link.destroy(),
      () => undefined,
    );
  }
}
