/**
 * Loaded first on every thread of a sandbox. Blocks the network, signals to other processes and changes of their
 * priority in JavaScript, which the permission model of Node 24 does not cover. Native code is not restricted by this
 * file.
 */
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import os from 'node:os';

type Functions = Record<string, unknown>;

function refusal(what: string): Error {
  return Object.assign(new Error(`Access to ${what} is refused in the sandbox`), { code: 'ERR_ACCESS_DENIED' });
}

function refuse(target: object, names: readonly string[], what: string): void {
  for (const name of names) {
    const value = () => {
      throw refusal(what);
    };
    Object.defineProperty(target, name, { value, writable: false, configurable: false });
  }
}

/** Names of functions, without classes. */
function functionsOf(target: object): string[] {
  return Object.getOwnPropertyNames(target).filter((name) => {
    return /^[a-z]/.test(name) && name !== 'constructor' && typeof (target as Functions)[name] === 'function';
  });
}

refuse(net.Socket.prototype, ['connect'], 'the network');
refuse(net.Server.prototype, ['listen'], 'the network');
refuse(dgram.Socket.prototype, ['bind', 'connect', 'send', 'addMembership'], 'the network');
for (const target of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
  // Node itself calls this one.
  refuse(
    target,
    functionsOf(target).filter((name) => name !== 'getDefaultResultOrder'),
    'the network',
  );
}
const { kill } = process;
process.kill = (pid, signal) => {
  if (pid !== process.pid) throw refusal('other processes');
  return kill.call(process, pid, signal);
};
refuse(os, ['setPriority'], 'other processes');
syncBuiltinESMExports();
