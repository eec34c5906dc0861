import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { partsOf } from '../../../src/incidents/membership/series-parts.ts';
import { rankOrigins, type SeriesMove } from '../../../src/incidents/origins/rank-origins.ts';
import { fc } from '../../fixture/fast-check.ts';

type Naming = (service: number, metric: number) => string;

const METRICS = ['latency', 'requests-Sum', 'availability'];
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 8);
/** Names of services as they occur, with the metric behind the last slash. */
const SERVICES: readonly ((service: number) => string)[] = [
  (service) => `s${service}`,
  (service) => digest(`s${service}`),
  (service) => `https://sqs.eu-1.example/queue-${service}`,
  (service) => `https://dynamodb-${service}.eu-1.example`,
  (service) => `fn-${service}_AWS::Lambda::Function`,
  (service) => `svc/prod-${service}_AWS::ApiGateway::Stage`,
  (service) => `10.0.0.${service}:9100`,
];
const labelled =
  (label: string): Naming =>
  (service, metric) =>
    `${METRICS[metric]}{namespace="shop",${label}="${digest(`s${service}`)}"}`;
const LABELLED = ['service', 'pod', 'k8s_deployment_name', 'instance', digest('label')].map(labelled);

/** A service has every metric; grades are all different, so that no order is left to the names. */
const fleets = fc
  .integer({ min: 2, max: 9 })
  .chain((services) => fc.shuffledSubarray(grades(), { minLength: services * 3, maxLength: services * 3 }));

function grades(): number[] {
  return Array.from({ length: 97 }, (_, i) => (i + 1) / 100);
}

/** Places and scores of the services that moved. */
function ranking(all: readonly number[], naming: Naming): readonly (readonly [service: number, score: number])[] {
  const serviceOf = new Map<string, number>();
  const moves = all.map((grade, i): SeriesMove => {
    const series = naming(Math.floor(i / METRICS.length), i % METRICS.length);
    serviceOf.set(series, Math.floor(i / METRICS.length));
    const parts = partsOf(series);
    return { series, parts, grade, threshold: 0.1, isFlat: false, firstAlarmAtMs: 0, seen: null, led: null };
  });
  const moved = rankOrigins(moves).filter(({ score }) => score > 0);
  return moved.map(({ series, score }) => [serviceOf.get(series)!, score]);
}

const plain: Naming = (service, metric) => `s${service}/${METRICS[metric]}`;

test('what services are called changes nothing of their ranking, also if each is called in another way', () => {
  const styles = fc.array(fc.integer({ min: 0, max: SERVICES.length - 1 }), { minLength: 9, maxLength: 9 });
  fc.assert(
    fc.property(fleets, styles, (all, style) => {
      const naming: Naming = (service, metric) => `${SERVICES[style[service]](service)}/${METRICS[metric]}`;
      assert.deepEqual(ranking(all, naming), ranking(all, plain));
    }),
  );
});

test('labels name services as well as ids do, also those of Kubernetes and unknown ones', () => {
  fc.assert(
    fc.property(fleets, fc.constantFrom(...LABELLED), (all, naming) => {
      assert.deepEqual(ranking(all, naming), ranking(all, plain));
    }),
  );
});

test('metrics that have parts belong to the service before them', () => {
  const nested: Naming = (service, metric) => `shop.s${service}.${['latency.p50', 'latency.p99', 'cpu.load'][metric]}`;
  fc.assert(fc.property(fleets, (all) => assert.deepEqual(ranking(all, nested), ranking(all, plain))));
});
