/** What tells series of OpenTelemetry apart: point, resource, scope and settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeOtlp } from '../../../../src/codecs/points/decode-points.ts';
import { SeriesNames } from '../../../../src/codecs/points/series-names.ts';
import { resourceLabels } from '../../../../src/records/series/resource-labels.ts';
import { recordedRequests } from '../../../fixture/senders/recorded.ts';

const REQUESTS = recordedRequests('otlp-python.json', 'identity');

function idsOf(bytes: Uint8Array, encoding: 'protobuf' | 'json', chosen?: readonly string[]): string[] {
  const decoded = decodeOtlp(bytes, encoding, new SeriesNames(), resourceLabels(chosen));
  assert.equal(decoded.kind, 'points');
  return decoded.kind === 'points' ? decoded.series.map(({ id }) => id) : [];
}

test('pods, scopes and lists of the Python SDK distinguish series, what churns does not', () => {
  const ids = new Set(REQUESTS.flatMap((request) => idsOf(request, 'protobuf')));
  const point = 'ports="[80,443]",zones="[\\"a\\",\\"b\\"]"';
  const of = (pod: string, scope: string) =>
    `hits{job="shop",k8s.pod.name="${pod}",otel_scope_name="${scope}",otel_scope_shard="${scope}",${point}}`;
  const expected = ['shop-a', 'shop-b'].flatMap((pod) => ['cache', 'db'].map((scope) => of(pod, scope)));
  assert.deepEqual([...ids].sort(), expected);
});

test('the chosen attributes are labels alone, and a full name chooses one that churns', () => {
  const [id] = idsOf(REQUESTS[0], 'protobuf', ['service.*', 'service.version']);
  assert.match(id, /^hits\{job="shop",otel_scope_.*service\.version="1\.a"/);
  assert.doesNotMatch(id, /k8s/);
});

const attribute = (key: string, value: object) => ({ key, value });

function request(resource: readonly object[], attributes: readonly object[]): Buffer {
  const dataPoints = [{ asInt: '1', timeUnixNano: '1000000', attributes }];
  const scopeMetrics = [{ metrics: [{ name: 'up', gauge: { dataPoints } }] }];
  return Buffer.from(JSON.stringify({ resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics }] }));
}

test('every kind of attribute counts, and large integers by every digit', () => {
  const values = [
    { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'a"b' }, { arrayValue: { values: [] } }] } },
    { kvlistValue: { values: [attribute('b', { boolValue: true }), attribute('a', { doubleValue: 0.5 })] } },
    { bytesValue: 'AQI=' },
    { intValue: '1152921504606846977' },
    { boolValue: false },
  ];
  const texts = ['[1,"a\\"b",[]]', '{"a":0.5,"b":true}', 'AQI=', '1152921504606846977', 'false'];
  for (const [i, value] of values.entries()) {
    const [id] = idsOf(request([attribute('k8s.node.name', value)], []), 'json');
    assert.equal(id, `up{k8s.node.name=${JSON.stringify(texts[i])}}`);
  }
});

test('attributes that share a label have one order of precedence, whatever order they come in', () => {
  const given = [attribute('service.name', { stringValue: 'a' }), attribute('job', { stringValue: 'b' })];
  for (const resource of [given, [...given].reverse()]) {
    assert.deepEqual(idsOf(request(resource, []), 'json', ['*']), ['up{job="a",otel_resource_job="b"}']);
    assert.deepEqual(idsOf(request(resource, [attribute('job', { stringValue: 'c' })]), 'json'), [
      'up{job="c",otel_resource_job="a"}',
    ]);
    assert.deepEqual(idsOf(request(resource, [attribute('job', { stringValue: 'c' })]), 'json', ['*']), [
      'up{job="c",otel_resource_job="b",otel_resource_otel_resource_job="a"}',
    ]);
  }
});

test('what the Python SDK sends of two services stays two series if the points have labels of the same names', () => {
  const ids = new Set(recordedRequests('otlp-python.json', 'hidden').flatMap((each) => idsOf(each, 'protobuf')));
  const runs = (service: string) =>
    `runs{job="nightly",k8s.pod.name="worker-1",otel_resource_job="${service}",otel_resource_k8s.pod.name="${service}-a",otel_scope_name="test"}`;
  const same = (service: string) => `same{job="${service}",k8s.pod.name="${service}-a",otel_scope_name="test"}`;
  assert.deepEqual([...ids], [runs('shop'), same('shop'), runs('depot'), same('depot')]);
});
