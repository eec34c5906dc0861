import { AsyncLocalStorage } from 'node:async_hooks';

const owners = new AsyncLocalStorage<string>();

/** Runs work whose forecasts and tunings count as those of an owner: owners take turns in their queues. */
export function runForOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** The owner of the running work; the same for all work without one. */
export function currentOwner(): string {
  return owners.getStore() ?? '';
}
