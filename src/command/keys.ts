import { readFlags } from '../config/command-line.ts';
import { durationMs, integerFrom, text, textOf } from '../config/kinds.ts';
import { loadProcessConfig } from '../config/load.ts';
import type { Flags } from '../config/option-reader.ts';
import { optionalFlag, processOptions, storeOptions } from '../config/options.ts';
import {
  type ApiKey,
  createApiKey,
  grantCredits,
  isUsable,
  listApiKeys,
  matchApiKeys,
  OPERATOR,
  revokeApiKey,
} from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import { makeKeyId, makeKeySecret } from '../store/key-secret.ts';
import { openDatabase } from '../store/open-store.ts';
import { type CommandIo, DONE, type ExitCode, type RunnableCommand, sayProblems, WRONG_USE } from './command.ts';

const TOKENS_MAX = 1_000_000_000_000;
const LIMIT_MAX = 1_000_000;

const modelNames = textOf('names of models, separated by commas', (value) => {
  const names = value.split(',').map((name) => name.trim());
  return names.every((name) => name !== '') ? (names as readonly string[]) : undefined;
});

const own = {
  name: optionalFlag('name', text, 'create: whom or what the key is for'),
  owner: optionalFlag('owner', text, 'create: keys of one owner share models and jobs (default: the key is its own)'),
  expires: optionalFlag('expires', durationMs, 'create: when it ends, from now: 30d (default: never)'),
  models: optionalFlag('models', modelNames, 'create: models it may use, separated by commas (default: all)'),
  perMinute: optionalFlag('per-minute', integerFrom(1, LIMIT_MAX), 'create: calls a minute (default: no limit)'),
  atOnce: optionalFlag('at-once', integerFrom(1, LIMIT_MAX), 'create: calls at one time (default: no limit)'),
  credits: optionalFlag(
    'credits',
    integerFrom(0, TOKENS_MAX),
    'create, credit: tokens it may spend (default: no limit)',
  ),
};

type OwnFlags = Extract<ReturnType<typeof readFlags<typeof own>>, { kind: 'values' }>['values'];

/** The keys of the HTTP interface. A running service heeds every change within seconds. */
export const keysCommand: RunnableCommand = {
  name: 'keys',
  summary:
    'Keys of the HTTP interface: create, list, revoke KEY, credit KEY --credits N (KEY: an id, or how it begins)',
  operands: ['ACTION', '[KEY]'],
  options: [...Object.values(own), processOptions.dataDir, ...Object.values(storeOptions)],
  async run([action, named], flags: Flags, io) {
    const loaded = loadProcessConfig(flags, []);
    const read = readFlags(flags, own);
    if (loaded.kind === 'problems') return sayProblems(loaded.problems, io);
    if (read.kind === 'problems') return sayProblems(read.problems, io);
    const problem = useProblem(action, named, read.values);
    if (problem !== null) {
      io.err(problem);
      return WRONG_USE;
    }
    const database = await openDatabase({ dataDir: loaded.config.dataDir, url: loaded.config.storeUrl });
    try {
      if (action === 'create') return await create(database, read.values, io);
      if (action === 'list') return await list(database, io);
      const key = await theKey(database, named, io);
      if (key === null) return WRONG_USE;
      return action === 'revoke' ? await revoke(database, key, io) : await credit(database, key, read.values, io);
    } finally {
      await database.close();
    }
  },
};

function useProblem(action: string, named: string | undefined, { credits, ...others }: OwnFlags): string | null {
  const flagged = Object.values(others).some((value) => value !== undefined);
  switch (action) {
    case 'create':
    case 'list':
      if (named !== undefined) return `${action} takes no KEY; a name for a new one goes after --name`;
      if (action === 'list' && (flagged || credits !== undefined)) return 'list takes no flags of a key';
      return null;
    case 'revoke':
    case 'credit':
      if (named === undefined) return `${action} needs a KEY: its id, or how it begins`;
      if (flagged) return `${action} changes nothing of a key but what its name says`;
      if (action === 'credit' && !credits) return 'credit needs --credits, the tokens to add';
      return action === 'revoke' && credits !== undefined ? 'revoke takes no --credits' : null;
    default:
      return `ACTION must be create, list, revoke or credit, got ${JSON.stringify(action)}`;
  }
}

async function create(database: Database, flags: OwnFlags, io: CommandIo): Promise<ExitCode> {
  const [id, secret, createdAtMs] = [makeKeyId(), makeKeySecret(), Date.now()];
  const limits = {
    models: flags.models ?? null,
    callsPerMinute: flags.perMinute ?? null,
    callsAtOnce: flags.atOnce ?? null,
    credits: flags.credits ?? null,
  };
  const expiresAtMs = flags.expires === undefined ? null : createdAtMs + flags.expires;
  const { name = 'unnamed', owner = id } = flags;
  await createApiKey(database, { id, owner, name, secret, createdAtMs, expiresAtMs, ...limits }, OPERATOR);
  io.err(`Key ${id} is made. It is shown this once:`);
  io.out(secret);
  return DONE;
}

async function list(database: Database, io: CommandIo): Promise<ExitCode> {
  const nowMs = Date.now();
  const titles = [
    'ID',
    'BEGINS',
    'NAME',
    'OWNER',
    'STATE',
    'CREATED',
    'EXPIRES',
    'A MINUTE',
    'AT ONCE',
    'CREDITS',
    'MODELS',
  ];
  const rows = [titles, ...(await listApiKeys(database)).map((key) => cellsOf(key, nowMs))];
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    io.out(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
  return DONE;
}

function cellsOf(key: ApiKey, nowMs: number): string[] {
  const state = isUsable(key, nowMs) ? 'valid' : key.revokedAtMs === null ? 'expired' : 'revoked';
  const { callsPerMinute, callsAtOnce, credits, models } = key;
  return [
    ...[key.id, `${key.prefix}…`, key.name, key.owner === key.id ? '-' : key.owner, state],
    ...[shownDay(key.createdAtMs), key.expiresAtMs === null ? '-' : shownDay(key.expiresAtMs)],
    ...[callsPerMinute, callsAtOnce, credits].map((limit) => (limit === null ? '-' : String(limit))),
    models === null ? 'all' : models.join(','),
  ];
}

const shownDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** null, with the reason said, where the name does not tell one key. */
async function theKey(database: Database, named: string, io: CommandIo): Promise<ApiKey | null> {
  const keys = await matchApiKeys(database, named);
  if (keys.length === 1) return keys[0];
  const found = keys.map(({ id, name }) => `${id} (${name})`).join(', ');
  io.err(
    keys.length === 0 ? `There is no key ${JSON.stringify(named)}; keys list shows them` : `Which of these: ${found}`,
  );
  return null;
}

async function revoke(database: Database, { id, name }: ApiKey, io: CommandIo): Promise<ExitCode> {
  const now = await revokeApiKey(database, id, { nowMs: Date.now(), actor: OPERATOR });
  io.out(
    now ? `Key ${id} (${name}) is revoked; running services refuse it within 5 s` : `Key ${id} was revoked before`,
  );
  return DONE;
}

async function credit(
  database: Database,
  { id, name }: ApiKey,
  { credits }: OwnFlags,
  io: CommandIo,
): Promise<ExitCode> {
  const left = await grantCredits(database, { id: id, tokens: credits! }, { nowMs: Date.now(), actor: OPERATOR });
  io.out(`Key ${id} (${name}) has ${left} tokens left to spend`);
  return DONE;
}
