import { integerFrom, text, topicName } from '../schema/kinds.ts';
import { setting } from './option.ts';

/** Deployments and other changes, which people and programs report. */
export const changeOptions = {
  changesTopic: setting(
    'CHANGES_TOPIC',
    topicName,
    'topic of known changes, such as deployments: compacted, one partition',
    'known-changes',
  ),
};

/** Topic of the versions of the detectors file. */
export const detectorsOptions = {
  detectorsTopic: setting(
    'DETECTORS_TOPIC',
    text,
    'topic of detectors that are saved over HTTP',
    'tidewatch-detectors',
  ),
};

export const incidentOptions = {
  incidentsTopic: setting('INCIDENTS_TOPIC', topicName, 'topic of incidents', 'anomaly-incidents'),
  incidentQuietMs: setting(
    'INCIDENT_QUIET_MS',
    integerFrom(1_000, 86_400_000),
    'ms from the last revision of its events until an incident without open events is closed; ' +
      'default: 60000, at least 3 steps',
  ),
};
