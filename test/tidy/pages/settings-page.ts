import { test } from 'node:test';
import { SUBJECTS, variables } from '../../generated/settings-page.ts';
import { none } from '../project.ts';

test('every setting has one subject', () => {
  const listed = Object.values(SUBJECTS).flatMap((subject) => Object.values(subject).flatMap(({ env }) => env ?? []));
  none(listed.filter((env, index) => listed.indexOf(env) < index));
  none([...variables].filter((env) => !listed.includes(env)));
});
