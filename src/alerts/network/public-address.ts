import { BlockList, isIP } from 'node:net';

/** Special-purpose IPv4 addresses (IANA): none of them is a host of the public internet. */
const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT
  ['127.0.0.0', 8], // loopback
  ['169.254.0.0', 16], // link-local, with the metadata services of clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** Parts of the global unicast range 2000::/3 that lead elsewhere. Outside of that range nothing is public. */
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4, which embeds an IPv4 address
  ['3fff::', 20], // documentation
];

const privateAddresses = new BlockList();
for (const [network, prefix] of PRIVATE_V4) privateAddresses.addSubnet(network, prefix, 'ipv4');
for (const [network, prefix] of PRIVATE_V6) privateAddresses.addSubnet(network, prefix, 'ipv6');
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/**
 * By hand, because ipaddr.js 2.5 calls unallocated ranges such as 4000::/2 unicast, and AS112 hosts not.
 * True for a host of the public internet. An IPv4 address inside an IPv6 one counts as what it is. false
 * for what is no address.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !privateAddresses.check(address, 'ipv4');
    case 6: {
      // An address with a zone, such as fe80::1%eth0, is link-local.
      if (address.includes('%')) return false;
      const inRange = globalUnicast.check(address, 'ipv6') || mapped.check(address, 'ipv6');
      return inRange && !privateAddresses.check(address, 'ipv6');
    }
    default:
      return false;
  }
}
