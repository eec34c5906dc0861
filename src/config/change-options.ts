import { setting, withDefault } from './option.ts';
import { topicName } from './schema/kinds.ts';

/** What people and programs say has changed. */
export const changeOptions = {
  changesTopic: withDefault(
    setting('CHANGES_TOPIC', topicName, 'topic of known changes, such as deployments: compacted, one partition'),
    'known-changes',
  ),
};
