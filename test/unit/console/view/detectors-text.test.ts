import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSettings } from '../../../../src/console/view/detectors-text.ts';

const FILE = `# Ours.
topics:
  scores: anomaly-scores
detectors:
  - name: web # the shop
    series: "web-*"
    h: 24
    false_alarms: 1/week # agreed

  # The rest.
  - name: "all others"
    series: "*"
    h: 12
output:
  format: json
`;

test('a setting is replaced in its place, with its comment, and nothing else changes', () => {
  assert.equal(
    withSettings(FILE, 'web', { false_alarms: '1/month' }),
    FILE.replace('1/week # agreed', '1/month # agreed'),
  );
});

test('a setting that was not there stands at the end of its own detector', () => {
  const changed = withSettings(FILE, 'web', { direction: 'up' });
  assert.equal(changed, FILE.replace('# agreed\n', '# agreed\n    direction: up\n'));
  const last = withSettings(FILE, 'all others', { min_deviation: '5%' });
  assert.equal(last, FILE.replace('h: 12\n', 'h: 12\n    min_deviation: 5%\n'));
});

test('an empty text takes a setting out, and what YAML would read otherwise is quoted', () => {
  assert.equal(
    withSettings(FILE, 'web', { false_alarms: '' }),
    FILE.replace('    false_alarms: 1/week # agreed\n', ''),
  );
  assert.match(withSettings(FILE, 'web', { min_deviation: '5: #' }) ?? '', /\n {4}min_deviation: "5: #"\n/);
});

test('a detector that is not there, or not written line by line, is left to a person', () => {
  assert.equal(withSettings(FILE, 'nobody', { h: '1' }), null);
  assert.equal(withSettings('detectors: [{name: web, h: 24}]', 'web', { h: '1' }), null);
});
