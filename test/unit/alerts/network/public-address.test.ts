import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPublicAddress } from '../../../../src/alerts/network/public-address.ts';

test('no loopback, private, link-local, shared, multicast or documentation address is public', () => {
  const refused = `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
    169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 fe80::1 fe80::1%eth0 febf::1 fc00::1 fd00:ec2::254 fec0::1 ff02::1 2001:db8::1 2001::1 2002:0a00:0001::1
    64:ff9b::a00:1 100::1 ::10.0.0.1 3fff::1`;
  for (const address of refused.trim().split(/\s+/)) assert.equal(isPublicAddress(address), false, address);
});

test('an IPv4 address inside an IPv6 one counts as what it is', () => {
  for (const address of ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:169.254.169.254', '::FFFF:10.1.2.3']) {
    assert.equal(isPublicAddress(address), false, address);
  }
  assert.equal(isPublicAddress('::ffff:8.8.8.8'), true);
});

test('hosts of the internet are public, and what is no address is not', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::8']) {
    assert.equal(isPublicAddress(address), true, address);
  }
  for (const text of ['', 'localhost', '127.1', '0x7f.1', '1.2.3.4.5'])
    assert.equal(isPublicAddress(text), false, text);
});
