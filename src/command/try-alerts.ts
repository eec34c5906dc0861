import type { Routes } from '../alerts/routes/alert-route.ts';
import { sendTestAlert } from '../alerts/test-alert.ts';
import { mustBe, nearestOf } from '../config/problems.ts';
import { type CommandIo, DONE, type ExitCode, FAILED } from '../terminal/command-io.ts';
import { printProblems } from './command.ts';

/** `alerts --check`: reports what a routes file has that is right. */
export function printRoutes(path: string, { routes, receivers }: Routes, io: CommandIo): ExitCode {
  const names = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).join(', ');
  io.out(`${path} is right. Routes: ${names(routes)}. Receivers: ${names(receivers)}.`);
  return DONE;
}

/** `alerts --test RECEIVER`: sends a test message, and prints the answer. */
export async function testReceiver(routes: Routes, name: string, io: CommandIo): Promise<ExitCode> {
  const names = routes.receivers.map((receiver) => receiver.name);
  if (!names.includes(name)) {
    const nearest = nearestOf(name, names);
    const problem = mustBe('--test', `a receiver of the routes file (${names.join(', ')})`, name);
    return printProblems([nearest === null ? problem : `${problem}; did you mean ${nearest}?`], io);
  }
  const answers = await sendTestAlert(routes, name, { nowMs: Date.now(), stop: io.stop });
  for (const { type, outcome } of answers) {
    const detail = outcome.kind === 'accepted' ? '' : `: ${outcome.detail}`;
    io.out(`${name}: the test message (${type}) is ${outcome.kind}${detail}`);
  }
  return answers.at(-1)?.outcome.kind === 'accepted' ? DONE : FAILED;
}
