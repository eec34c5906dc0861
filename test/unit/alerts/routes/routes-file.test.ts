import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readRoutes, routesOf } from '../../../fixture/alerts/routes.ts';

const HOOK = 'receivers: [{ name: hook, webhook: { url: "https://example.com/in" } }]';
const ONE_ROUTE = 'routes: [{ name: all, receivers: hook }]';

test('a file with only the required keys has every default', () => {
  const { stateTopic, routes, receivers, allowPrivate } = routesOf(`${HOOK}\n${ONE_ROUTE}`);
  assert.deepEqual([stateTopic, allowPrivate.size], [null, 0]);
  const { wording: _, ...receiver } = receivers[0];
  assert.deepEqual(receiver, {
    name: 'hook',
    target: { kind: 'webhook', url: 'https://example.com/in', secret: null, authorization: null },
    retryForMs: 86_400_000,
    timeoutMs: 10_000,
  });
  const none = { detector: null, series: null, kinds: null, directions: null, incidentKinds: null };
  assert.deepEqual(routes, [
    {
      name: 'all',
      on: 'events',
      match: { ...none, severityMin: null, gradeMin: null, labels: new Map() },
      receivers: ['hook'],
      continues: false,
      updates: false,
      groupBy: null,
      groupWaitMs: 30_000,
      coolDownMs: 0,
      ageLimitMs: null,
      mute: [],
    },
  ]);
});

test('the example for operators is right', () => {
  const content = readFileSync(new URL('../../../../deploy/alerts.example.yaml', import.meta.url), 'utf8');
  const env = {
    WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    SLACK_WEBHOOK_URL: 'https://hooks.slack.com/services/T/B/X',
    PAGERDUTY_ROUTING_KEY: '0123456789abcdef0123456789ABCDEF',
  };
  const { routes, problems } = readRoutes(content, env, { '/run/secrets/smtp-password': 'secret\n' });
  assert.deepEqual(problems, []);
  assert.deepEqual(new Set(routes?.receivers.map(({ target }) => target.kind)).size, 5);
});

test('every problem is reported at once, with its line and the key that is wrong', () => {
  const { routes, problems } = readRoutes(
    `
receivers:
  - { name: hook, webhook: { url: ftp://example.com, secret_env: NOT_SET } }
  - { name: hook, slack: { url: "https://hooks.slack.com/x" }, timout: 3s }
  - { name: both, slack: { url: "https://a.example" }, pagerduty: { routing_key_env: KEY } }
  - { name: mail, email: { host: mail.example.com, from: nobody, to: [a@example.com], username: u, tls: none } }
  - { name: near, webhook: { url: "http://10.0.0.7/in" }, template: { title: "{{sereis}}" } }
mute_windows:
  - { name: nights, time_zone: Europe/Nowhere, from: "22:00", to: "6:00" }
routes:
  - { name: a, receivers: [hook, nobody], group_wait: 1min, match: { kind: spikes, severity_min: high, labels: { team: 3 } } }
  - { name: a, receivers: hook, mute: nights, escalate: [{ after: 5min, receivers: hook }] }
colour: blue
`,
    { KEY: 'short' },
  );
  assert.equal(routes, null);
  const expected = [
    /r\.yaml:3: receivers\[0\]\.webhook\.url must be an http or https URL/,
    /r\.yaml:3: receivers\[0\]\.webhook\.secret_env must be the name of a variable that is set, got "NOT_SET"/,
    /r\.yaml:4: receivers\[1\]\.timout is not a known key; did you mean timeout\?/,
    /r\.yaml:5: receivers\[2\]\.pagerduty must be one of webhook, slack/,
    /r\.yaml:5: receivers\[2\]\.pagerduty\.routing_key_env must be the place of a key of 32/,
    /r\.yaml:6: receivers\[3\]\.email\.from must be a mail address/,
    /r\.yaml:6: receivers\[3\]\.email\.password_env must be set/,
    /r\.yaml:6: receivers\[3\]\.email\.tls must be implicit or starttls/,
    /r\.yaml:7: receivers\[4\]\.template\.title must be a Mustache template with known fields, got \{\{sereis\}\}/,
    /r\.yaml:7: receivers\[4\]\.webhook must be a receiver with a public address, or one that allow_private at the top/,
    /r\.yaml:9: mute_windows\[0\]\.time_zone must be a time zone/,
    /r\.yaml:9: mute_windows\[0\]\.to must be a time of the day such as 22:00/,
    /r\.yaml:11: routes\[0\]\.receivers must be names of receivers of this file, got "nobody"/,
    /r\.yaml:11: routes\[0\]\.group_by must be set/,
    /r\.yaml:11: routes\[0\]\.match\.kind must be spike, dip/,
    /r\.yaml:11: routes\[0\]\.match\.severity_min must be a number/,
    /r\.yaml:11: routes\[0\]\.match\.labels\.team must be text/,
    /r\.yaml:12: routes\[1\]\.name must be a name of its own/,
    /r\.yaml:12: routes\[1\]\.mute must be names of mute_windows/,
    /r\.yaml:12: routes\[1\]\.escalate was removed: PagerDuty and Alertmanager escalate open alerts$/,
    /r\.yaml:13: colour is not a known key/,
  ];
  for (const pattern of expected) {
    assert.ok(
      problems.some((problem) => pattern.test(problem)),
      `${pattern}\n${problems.join('\n')}`,
    );
  }
});

test('secrets come from variables and files, and appear in no problem', () => {
  const secret = Buffer.alloc(24, 1).toString('base64');
  const content = `
allow_private: [127.0.0.1]
receivers:
  - { name: a, webhook: { url: "http://127.0.0.1:1/x", secret_file: s, authorization_env: AUTH } }
  - { name: b, slack: { url_file: url } }
routes: [{ name: all, receivers: [a, b] }]`;
  const { receivers } = readRoutes(content, { AUTH: 'Bearer t' }, { s: `${secret}\n`, url: 'https://x.example/T' })
    .routes!;
  assert.deepEqual(receivers[0].target, {
    kind: 'webhook',
    url: 'http://127.0.0.1:1/x',
    secret,
    authorization: 'Bearer t',
  });
  assert.deepEqual(receivers[1].target, { kind: 'slack', url: 'https://x.example/T' });

  const wrong = readRoutes(content, { AUTH: 'Bearer t' }, { s: 'hunter2', url: 'hooks.example/T0PSECRET' });
  assert.equal(wrong.problems.length, 2);
  assert.doesNotMatch(wrong.problems.join('\n'), /hunter2|T0PSECRET/);
});

test('an unknown name of a receiver or a mute window comes with the nearest one', () => {
  const { problems } = readRoutes(`
${HOOK}
mute_windows: [{ name: nights, time_zone: UTC }]
routes: [{ name: all, receivers: hok, mute: night }]`);
  assert.deepEqual(problems, [
    'r.yaml:4: routes[0].receivers must be names of receivers of this file, got "hok"; did you mean hook?',
    'r.yaml:4: routes[0].mute must be names of mute_windows of this file, got "night"; did you mean nights?',
  ]);
});

test('problems come in the order of their lines', () => {
  const { problems } = readRoutes(`colour: blue\n${HOOK}\nroutes:\n- { name: a, receivers: no }\nmute_windows: []`);
  const numbers = problems.map((problem) => problem.split(':')[1]);
  assert.deepEqual(numbers, ['1', '4', '5']);
});

test('a route on incidents waits for a while, and refuses what only events have', () => {
  const [route] = routesOf(`${HOOK}\nroutes: [{ name: all, on: incidents, receivers: hook }]`).routes;
  assert.deepEqual([route.on, route.groupWaitMs, route.groupBy], ['incidents', 5_000, null]);
  const { problems } = readRoutes(`${HOOK}
routes:
  - { name: a, on: incidents, receivers: hook, group_by: kind, cool_down: 1min }
  - { name: b, receivers: hook, match: { incident_kind: pause } }
  - { name: c, on: incident, receivers: hook }`);
  assert.deepEqual(problems, [
    'r.yaml:3: routes[0].on must be events, because group_by is set, got "incidents"',
    'r.yaml:3: routes[0].on must be events, because cool_down is set, got "incidents"',
    'r.yaml:4: routes[1].on must be incidents, because incident_kind is set, got "events"',
    'r.yaml:5: routes[2].on must be events or incidents, got "incident"',
  ]);
});
