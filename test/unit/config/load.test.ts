import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeConfig } from '../../../src/config/describe.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { load, loaded, problemsOf, type Settings } from '../../fixture/configuration.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n';
const FILES = { 'ca.pem': PEM, 'cert.pem': PEM, 'key.pem': PEM, 'password.txt': 'from a file\n', 'empty.txt': '' };

test('the default name of the changelog contains the group id, and the earlier name is looked for', () => {
  const changelogOf = (groupId: string) => {
    const { earlierChangelog, topics } = loaded({ env: { KAFKA_GROUP_ID: groupId } }).stream;
    return [topics.changelog, earlierChangelog];
  };
  assert.deepEqual(changelogOf('tidewatch'), ['tidewatch-changelog', null]);
  assert.deepEqual(changelogOf('team/a'), ['team-a-changelog', 'tidewatch-changelog']);
});

test('an environment without a single setting gives every default', () => {
  const config = loaded({});
  assert.equal(config.kafka, null);
  assert.equal(config.registry, null);
  assert.deepEqual(config.stream.detectors, []);
  assert.equal(config.stream.topics.changelog, 'tidewatch-changelog');
  assert.deepEqual(
    [config.opsHost, config.opsPort, config.opsPortMoves, config.dataDir, config.logLevel],
    ['127.0.0.1', 9464, true, './data', 'info'],
  );
  assert.deepEqual(config.worker, {
    commitIntervalMs: 50,
    commitRecordsMax: 5_000,
    transactionsPerSMax: 500,
    backfillForecastsPerSMax: 2_000,
    queueRecordsMax: 20_000,
    seriesMax: 100_000,
    inferenceThreads: 2,
    memoryMbMax: 0,
    shutdownMsMax: 10_000,
    startWaitMs: 60_000,
    sessionMs: 10_000,
  });
});

test('a flag wins over the environment, the environment over the detectors file, the file over the default', () => {
  const yaml = detectorsFile('worker: { commit_interval_ms: 300, commit_records_max: 300, queue_records_max: 300 }');
  const config = loaded({
    env: { DETECTORS: 'd.yaml', KAFKA_COMMIT_INTERVAL_MS: '200', KAFKA_COMMIT_RECORDS_MAX: '200' },
    flags: { 'kafka-commit-interval-ms': '100' },
    files: { 'd.yaml': yaml },
  });
  const { commitIntervalMs, commitRecordsMax, queueRecordsMax, seriesMax } = config.worker;
  assert.deepEqual([commitIntervalMs, commitRecordsMax, queueRecordsMax, seriesMax], [100, 200, 300, 100_000]);
});

test('the default of a command loses against every setting', () => {
  const fallbacks = { detectors: 'demo.yaml', logLevel: 'error' } as const;
  const files = { 'demo.yaml': detectorsFile(''), 'd.yaml': detectorsFile('topics: { scores: mine }') };
  const first = loaded({ fallbacks, files });
  assert.deepEqual([first.logLevel, first.stream.detectors.length], ['error', 1]);
  const second = loaded({ fallbacks, files, env: { LOG_LEVEL: 'debug' }, flags: { detectors: 'd.yaml' } });
  assert.deepEqual([second.logLevel, second.stream.topics.scores], ['debug', 'mine']);
});

test('an empty variable counts as unset', () => {
  assert.deepEqual(problemsOf(load({ env: { KAFKA_BROKERS: '', OPS_PORT: '' } })), []);
});

test('brokers, TLS files and SASL credentials are read', () => {
  const config = loaded({
    env: {
      KAFKA_BROKERS: 'a:9092, [::1]:9093',
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA: 'ca.pem',
      KAFKA_TLS_CERT: 'cert.pem',
      KAFKA_TLS_KEY: 'key.pem',
      KAFKA_SASL_MECHANISM: 'scram-sha-512',
      KAFKA_SASL_USERNAME: 'ada',
      KAFKA_SASL_PASSWORD_FILE: 'password.txt',
    },
    files: FILES,
  });
  assert.deepEqual(config.kafka, {
    brokers: ['a:9092', '[::1]:9093'],
    clientId: 'tidewatch',
    tls: {
      ca: PEM,
      cert: PEM,
      key: PEM,
      rejectUnauthorized: true,
      files: { ca: 'ca.pem', cert: 'cert.pem', key: 'key.pem' },
    },
    sasl: { mechanism: 'scram-sha-512', username: 'ada', password: 'from a file' },
  });
});

/** What is set, and the one sentence it must give. */
const WRONG: readonly (readonly [Settings, string | RegExp])[] = [
  [
    { env: { KAFKA_COMMIT_INTERVAL_MS: 'soon' } },
    'KAFKA_COMMIT_INTERVAL_MS must be an integer from 10 to 60000, got "soon"',
  ],
  [{ env: { KAFKA_COMMIT_INTERVAL_MS: '9' } }, /^KAFKA_COMMIT_INTERVAL_MS must be .* got "9"$/],
  [{ env: { SERIES_MAX: '1e3' } }, /^SERIES_MAX must be an integer from 1 to 10000000, got "1e3"$/],
  [{ flags: { 'ops-port': '65536' } }, '--ops-port must be an integer from 0 to 65535, got "65536"'],
  [{ env: { OPS_PORT: '1' }, flags: { 'ops-port': 'x' } }, /^--ops-port must be/],
  [{ env: { LOG_LEVEL: 'verbose' } }, /^LOG_LEVEL must be trace, debug, .* or silent, got "verbose"$/],
  [{ env: { KAFKA_BROKERS: 'localhost' } }, /^KAFKA_BROKERS must be brokers as host:port/],
  [{ env: { KAFKA_BROKERS: 'a:9092,b:70000' } }, /^KAFKA_BROKERS must be/],
  [{ env: { KAFKA_TLS: 'yes', KAFKA_TLS_CA: 'ca.pem' } }, 'KAFKA_TLS must be true or false, got "yes"'],
  [{ env: { KAFKA_TLS_CA: 'ca.pem' } }, 'KAFKA_TLS_CA is set, but KAFKA_TLS is not true'],
  [{ env: { KAFKA_TLS: 'true', KAFKA_TLS_CA: 'none.pem' } }, /^KAFKA_TLS_CA must be the path of a readable file/],
  [{ env: { KAFKA_TLS: 'true', KAFKA_TLS_CA: 'password.txt' } }, /^KAFKA_TLS_CA must be the path of a PEM file/],
  [{ env: { KAFKA_TLS: 'true', KAFKA_TLS_KEY: 'key.pem' } }, /^KAFKA_TLS_CERT must be set, because KAFKA_TLS_KEY is/],
  [{ env: { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: 'x' } }, /^KAFKA_SASL_USERNAME must be set/],
  [{ env: { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'x' } }, /^KAFKA_SASL_PASSWORD must be set/],
  [
    { env: { KAFKA_SASL_USERNAME: 'x' } },
    '--kafka-sasl-mechanism or KAFKA_SASL_MECHANISM must be plain, scram-sha-256, scram-sha-512 or oauthbearer, got nothing',
  ],
  [
    {
      env: {
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_SASL_USERNAME: 'x',
        KAFKA_SASL_PASSWORD: 'a',
        KAFKA_SASL_PASSWORD_FILE: 'password.txt',
      },
    },
    /both set; set one of them$/,
  ],
  [
    { env: { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'x', KAFKA_SASL_PASSWORD_FILE: 'empty.txt' } },
    /^KAFKA_SASL_PASSWORD_FILE must be the path of a file that is not empty/,
  ],
  [
    { env: { STORE_URL: 'mysql://u:p@db/x' } },
    'STORE_URL must be a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE, got a value that is not shown',
  ],
  [{ env: { SCHEMA_REGISTRY_URL: 'ftp://r' } }, /^SCHEMA_REGISTRY_URL must be an http or https URL/],
  [{ env: { SCHEMA_REGISTRY_USERNAME: 'u', SCHEMA_REGISTRY_PASSWORD: 'p' } }, /^SCHEMA_REGISTRY_URL must be set/],
  [
    { env: { SCHEMA_REGISTRY_URL: 'http://r', SCHEMA_REGISTRY_USERNAME: 'u' } },
    /^SCHEMA_REGISTRY_PASSWORD must be set/,
  ],
  [{ env: { DETECTORS: 'none.yaml' } }, /^DETECTORS must be the path of a readable file, got "none.yaml"/],
  [{ env: { KAFKA_GROUPID: 'x' } }, 'KAFKA_GROUPID is not a known variable; did you mean KAFKA_GROUP_ID?'],
  [
    { env: { KAFKA_BROKERS: 'a:1; b:2' } },
    'KAFKA_BROKERS must be brokers as host:port, separated by commas, got "a:1; b:2"; separate them by commas: a:1,b:2',
  ],
  [{ env: { TIDEWATCH_OPS_PORT: '1' } }, 'TIDEWATCH_OPS_PORT is not a known variable; did you mean OPS_PORT?'],
  [{ env: { TIDEWATCH_COLOUR: 'blue' } }, 'TIDEWATCH_COLOUR is not a known variable'],
  [
    { requires: ['brokers'] },
    /^--kafka-brokers or KAFKA_BROKERS must be brokers as host:port, separated by commas, got nothing$/,
  ],
  [{ requires: ['detectors'] }, /^--detectors or DETECTORS must be the path of a detectors file, got nothing$/],
  [
    { flags: { detectors: 'd.yaml' }, files: { 'd.yaml': detectorsFile('input: { format: avro }') } },
    '--schema-registry-url or SCHEMA_REGISTRY_URL must be set, because input.format is avro, got nothing',
  ],
];

for (const [settings, sentence] of WRONG) {
  test(`${JSON.stringify(settings)} gives one sentence`, () => {
    const problems = problemsOf(load({ ...settings, files: { ...FILES, ...settings.files } }));
    assert.equal(problems.length, 1, problems.join('\n'));
    if (typeof sentence === 'string') assert.equal(problems[0], sentence);
    else assert.match(problems[0], sentence);
  });
}

test('variables of other Kafka tools and of Kubernetes are ignored', () => {
  const env = {
    KAFKA_HEAP_OPTS: '-Xmx1g',
    KAFKA_LOG4J_OPTS: 'x',
    KAFKA_PORT: 'tcp://10.0.0.1:9092',
    TIDEWATCH_PORT: 'tcp://10.0.0.2:9464',
    TIDEWATCH_PORT_9464_TCP_ADDR: '10.0.0.2',
    TIDEWATCH_SERVICE_HOST: '10.0.0.2',
    TIDEWATCH_API_KEY: 'a-key-of-24-characters-x',
  };
  assert.deepEqual(problemsOf(load({ env })), []);
});

test('problems of flags, environment and detectors file are reported together', () => {
  const problems = problemsOf(
    load({
      flags: { 'ops-port': 'x' },
      env: { LOG_LEVEL: 'loud', DETECTORS: 'd.yaml' },
      files: { 'd.yaml': 'detectors: []\ntopics: { observations: "a b" }' },
    }),
  );
  assert.equal(problems.length, 4, problems.join('\n'));
});

test('HTTP listens on the loopback interface by default, and a key must fit into a header', () => {
  const { host, port, apiKey } = loaded({ env: { HTTP_PORT: '0' } }).http;
  assert.deepEqual({ host, port, apiKey }, { host: '127.0.0.1', port: 0, apiKey: null });
  const problems = problemsOf(load({ env: { HTTP_PORT: 'x', TIDEWATCH_API_KEY: 'with space, and long enough' } }));
  assert.equal(problems.length, 2, problems.join('\n'));
});

test('TIDEWATCH_API_KEY has at least 24 characters', () => {
  const short = problemsOf(load({ env: { TIDEWATCH_API_KEY: 'x'.repeat(23) } }));
  assert.deepEqual(short, [
    'TIDEWATCH_API_KEY must be 24 or more characters of printable ASCII without spaces, and no key of an example ' +
      '(openssl rand -hex 24 makes one), got a value that is not shown',
  ]);
  assert.deepEqual(problemsOf(load({ env: { TIDEWATCH_API_KEY: 'x'.repeat(24) } })), []);
  for (const known of [
    'a-key-of-at-least-24-characters',
    'change-me-change-me-change-me',
    'put-your-api-key-here-please',
  ]) {
    assert.deepEqual(problemsOf(load({ env: { TIDEWATCH_API_KEY: known } })), short);
  }
});

const SECRETS = {
  KAFKA_SASL_PASSWORD: 'swordfish',
  SCHEMA_REGISTRY_PASSWORD: 'open-sesame',
  TIDEWATCH_API_KEY: 'abracadabra-abracadabra-abracadabra',
  STORE_URL: 'postgres://ann:shibboleth@db/tidewatch',
};
const BESIDE_SECRETS = {
  KAFKA_BROKERS: 'a:9092',
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_USERNAME: 'ada',
  SCHEMA_REGISTRY_URL: 'https://registry',
  SCHEMA_REGISTRY_USERNAME: 'ada',
};

test('every secret may be given by a file instead', () => {
  const named = Object.fromEntries(Object.keys(SECRETS).map((name) => [`${name}_FILE`, `/secrets/${name}`]));
  const files = Object.fromEntries(Object.entries(SECRETS).map(([name, text]) => [`/secrets/${name}`, `${text}\n`]));
  const inFiles = load({ env: { ...BESIDE_SECRETS, ...named }, files });
  assert.deepEqual(inFiles, load({ env: { ...BESIDE_SECRETS, ...SECRETS } }));
  assert.equal(inFiles.kind, 'config');
  const short = problemsOf(load({ env: { TIDEWATCH_API_KEY_FILE: 'k' }, files: { k: 'short' } }));
  assert.deepEqual(short, [
    'TIDEWATCH_API_KEY_FILE must name a file that holds 24 or more characters of printable ASCII without spaces, and no ' +
      'key of an example (openssl rand -hex 24 makes one), ' +
      'got a value that is not shown',
  ]);
  const both = { ...SECRETS, ...named, ...BESIDE_SECRETS };
  assert.equal(problemsOf(load({ env: both, files })).length, 4);
});

test('proxies, origins and certificates are checked when the service starts', () => {
  const wrong = {
    HTTP_TRUSTED_PROXIES: '10.0.0.0/33',
    HTTP_CORS_ORIGINS: 'https://a.example/path',
    HTTP_TLS_CERT: 'cert.pem',
    HTTP_CONNECTIONS_MAX: '0',
  };
  const problems = problemsOf(load({ env: wrong, files: FILES }));
  assert.equal(problems.length, 4, problems.join('\n'));
  const right = {
    HTTP_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    HTTP_CORS_ORIGINS: 'https://a.example,http://localhost:5173',
    HTTP_TLS_CERT: 'cert.pem',
    HTTP_TLS_KEY: 'key.pem',
  };
  const { trustedProxies, corsOrigins, tls } = loaded({ env: right, files: FILES }).http;
  assert.deepEqual(trustedProxies, ['10.0.0.0/8', '::1']);
  assert.deepEqual(corsOrigins, ['https://a.example', 'http://localhost:5173']);
  assert.deepEqual(tls, { certPath: 'cert.pem', keyPath: 'key.pem' });
});

test('no secret appears in a problem or in the description of a configuration', () => {
  const tls = { KAFKA_TLS: 'true', KAFKA_TLS_CERT: 'cert.pem', KAFKA_TLS_KEY: 'key.pem' };
  const env = { ...BESIDE_SECRETS, ...tls, ...SECRETS };
  const config = loaded({ env, files: FILES });
  const described = JSON.stringify(describeConfig(config));
  const wrong = {
    ...env,
    KAFKA_SASL_MECHANISM: 'x',
    SCHEMA_REGISTRY_URL: 'http://ada:swordfish@registry',
    KAFKA_TLS_CA: '-',
    TIDEWATCH_API_KEY: 'abracadabra-abracadabra-abracadabra x',
  };
  const problems = problemsOf(load({ env: wrong, files: FILES })).join('\n');
  for (const secret of [...Object.values(SECRETS), 'BEGIN CERTIFICATE']) {
    assert.ok(!described.includes(secret), described);
    assert.ok(!problems.includes(secret), problems);
  }
  assert.match(described, /"username":"ada"/);
});

test('the example file loads', () => {
  const result = loadConfig({
    flags: { detectors: 'deploy/detectors.example.yaml' },
    env: {},
    readFile: (path) => readFileSync(path, 'utf8'),
    processors: 1,
    requires: ['detectors'],
  });
  assert.deepEqual(result.kind === 'problems' ? result.problems : [], []);
  assert.equal(result.kind, 'config');
  const { detectors, input } = result.config.stream;
  const detectorNames = detectors.map(({ name }) => name);
  assert.deepEqual(detectorNames, ['load', 'cluster-errors', 'hourly']);
  assert.deepEqual(input.series, ['host', 'metric']);
});

test('an invalid secret is not shown', () => {
  const problems = problemsOf(load({ env: { KAFKA_SASL_PASSWORD: ' \t ' } })).join('\n');
  assert.match(problems, /KAFKA_SASL_PASSWORD must be .*, got a value that is not shown/);
});

function detectorsFile(more: string): string {
  return `${more}\ndetectors: [{ name: a, series: '*', freq: h, h: 24, detection_size: 24 }]`;
}
