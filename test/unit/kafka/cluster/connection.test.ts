import assert from 'node:assert/strict';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tlsOptions } from '../../../../src/kafka/cluster/connection.ts';
import { freshFolder } from '../../../fixture/fresh-folder.ts';

const pem = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;

test('client certificates are read again when they change, and the last whole one counts', () => {
  const folder = freshFolder();
  const cert = join(folder, 'cert.pem');
  let changes = 0;
  const write = (content: string) => {
    writeFileSync(cert, content);
    utimesSync(cert, ++changes, changes);
  };
  write(pem('first'));
  const options = tlsOptions({ cert: pem('first'), rejectUnauthorized: true, files: { cert } });
  // As a connection is made.
  const connected = () => Object.assign({}, options).cert;
  assert.equal(connected(), pem('first'));
  write(pem('second'));
  assert.equal(connected(), pem('second'));
  write('-----BEGIN CERTIFICATE-----');
  assert.equal(connected(), pem('second'));
  rmSync(cert);
  assert.equal(connected(), pem('second'));
  assert.equal(Object.assign({}, options).ca, undefined);
});
