import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogger, type Logger } from '../../../src/ops/logger.ts';

function lines(level: Parameters<typeof createLogger>[0], log: (logger: Logger) => void) {
  const written: string[] = [];
  log(createLogger(level, { write: (line: string) => written.push(line) }));
  return written.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line has the name of its level, its time and its message', () => {
  const [line, ...more] = lines('info', (logger) => {
    logger.info({ partition: 3 }, 'restored');
    logger.debug('below the level');
  });
  assert.deepEqual(more, []);
  const { time, ...rest } = line;
  assert.ok(!Number.isNaN(Date.parse(String(time))));
  assert.deepEqual(rest, { level: 'info', partition: 3, msg: 'restored' });
});

test('an error is written with its message and stack', () => {
  const [line] = lines('info', (logger) => logger.error({ err: new Error('no route') }, 'failed'));
  const { message, stack } = line.err as Record<string, string>;
  assert.equal(message, 'no route');
  assert.match(stack, /logger\.test\.ts/);
});

test('secrets are never written, at any level and up to two levels deep', () => {
  const secret = { password: 'swordfish', tls: { key: 'swordfish' }, apiKey: 'swordfish' };
  for (const level of ['trace', 'info'] as const) {
    const written = lines(level, (logger) => {
      logger.info({ ...secret, kafka: { ...secret, sasl: { password: 'swordfish' } } });
      logger.child({ token: 'swordfish' }).info('child');
    });
    assert.equal(written.length, 2);
    assert.doesNotMatch(JSON.stringify(written), /swordfish/);
  }
});

test('values of series are written only at the levels debug and trace', () => {
  const log = (logger: Logger) => logger.info({ series: 'a', value: 4.25, record: { value: 4.25 } });
  assert.doesNotMatch(JSON.stringify(lines('info', log)), /4\.25/);
  assert.match(JSON.stringify(lines('debug', log)), /4\.25/);
});
