import { setTimeout as sleep } from 'node:timers/promises';
import type { BrokerCluster, ClusterNode } from './broker-cluster.ts';
import type { LinkFault } from './fault-proxy.ts';
import type { FaultedWorkers } from './faulted-workers.ts';

export interface FaultContext {
  readonly cluster: BrokerCluster;
  readonly workers: FaultedWorkers;
  /** 0 to 1, from the seed. */
  readonly random: () => number;
  /** Waits until every partition has a leader again that is not one of these brokers, and notes the time. */
  readonly awaitLeaders: (away: readonly ClusterNode[]) => Promise<void>;
}

export const FAULT_PLACES = ['worker', 'broker', 'link'] as const;
export type FaultPlace = (typeof FAULT_PLACES)[number];

export interface Fault {
  readonly name: string;
  readonly on: FaultPlace;
  /** How many brokers it needs; left out: one. */
  readonly brokersMin?: number;
  run(context: FaultContext): Promise<void>;
}

const BROKER_AWAY_MS = 4_000;
const FROZEN_MS = 8_000;
const LINK_FAULT_MS = 5_000;

const anyWorker = ({ workers, random }: FaultContext) => Math.floor(random() * workers.count);

function anyNode({ cluster, random }: FaultContext): ClusterNode {
  return cluster.nodes[Math.floor(random() * cluster.nodes.length)];
}

async function withoutBrokers(context: FaultContext, nodes: readonly ClusterNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.kill()));
  const haveOthers = nodes.length === 1 && context.cluster.nodes.length > 1;
  if (haveOthers) await context.awaitLeaders(nodes);
  await sleep(BROKER_AWAY_MS);
  await Promise.all(nodes.map((node) => node.restart()));
  if (!haveOthers) await context.awaitLeaders([]);
}

function linkFault(name: string, fault: LinkFault): Fault {
  const run = async (context: FaultContext) => {
    const { proxy } = anyNode(context);
    proxy.set(fault);
    await sleep(LINK_FAULT_MS);
    proxy.set({ kind: 'none' });
  };
  return { name, on: 'link', run };
}

/** Leaders and coordinators move with every broker that is killed, and back after its restart. */
export const FAULTS: readonly Fault[] = [
  { name: 'worker killed', on: 'worker', run: (context) => context.workers.replace(anyWorker(context), 'SIGKILL') },
  {
    name: 'broker killed and restarted',
    on: 'broker',
    run: (context) => withoutBrokers(context, [anyNode(context)]),
  },
  {
    name: 'worker frozen',
    on: 'worker',
    async run(context) {
      const at = anyWorker(context);
      context.workers.freeze(at);
      await sleep(FROZEN_MS);
      context.workers.thaw(at);
    },
  },
  {
    name: 'broker frozen',
    on: 'broker',
    async run(context) {
      const node = anyNode(context);
      await node.freeze();
      const haveOthers = context.cluster.nodes.length > 1;
      if (haveOthers) await context.awaitLeaders([node]);
      await sleep(FROZEN_MS);
      await node.thaw();
      if (!haveOthers) await context.awaitLeaders([]);
    },
  },
  linkFault('link to a broker cut', { kind: 'cut' }),
  { name: 'worker restarted', on: 'worker', run: (context) => context.workers.replace(anyWorker(context), 'SIGTERM') },
  {
    name: 'two brokers killed and restarted',
    on: 'broker',
    brokersMin: 3,
    run: (context) => {
      const spared = anyNode(context);
      return withoutBrokers(
        context,
        context.cluster.nodes.filter((node) => node !== spared),
      );
    },
  },
  linkFault('link to a broker delayed by 300 ms', { kind: 'delayed', ms: 300 }),
  linkFault('requests to a broker arrive, responses do not', { kind: 'half' }),
];
