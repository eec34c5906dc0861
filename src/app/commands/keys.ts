import { alignedLines } from '../../config/command-line.ts';
import { detectorKinds } from '../../config/keys/detector-keys.ts';
import { commandFlag, type OptionValues } from '../../config/options/option.ts';
import { processOptions, storeOptions } from '../../config/options/options.ts';
import { commaList, durationMs, integerFrom, oneOf, text } from '../../config/schema/kinds.ts';
import type { Database } from '../../store/database/database.ts';
import { openDatabase } from '../../store/database/open-store.ts';
import {
  type ApiKey,
  changeRole,
  createApiKey,
  grantCredits,
  keyState,
  listApiKeys,
  makeKeyId,
  makeKeySecret,
  matchApiKeys,
  OPERATOR,
  revokeApiKey,
} from '../../store/keys/api-keys.ts';
import { KEY_ROLES } from '../../store/keys/key-role.ts';
import { type CommandIo, DONE, type ExitCode, WRONG_USE } from '../../tools/terminal/command-io.ts';
import { command, jsonFlag } from './command.ts';

const TOKENS_MAX = 1_000_000_000_000;
const LIMIT_MAX = 1_000_000;

const modelNames = commaList('names of models', (name) => detectorKinds.model.parse(name) !== undefined);

const own = {
  name: commandFlag('name', text, 'create: name of the person or program that uses the key'),
  owner: commandFlag('owner', text, 'create: keys of one owner share models and jobs (default: the key is its own)'),
  role: commandFlag('role', oneOf(...KEY_ROLES), 'create, role: viewer, operator or admin (default: operator)'),
  expires: commandFlag('expires', durationMs, 'create: lifetime of the key, such as 30d (default: no end)'),
  models: commandFlag('models', modelNames, 'create: models that the key may use, separated by commas (default: all)'),
  perMinute: commandFlag('per-minute', integerFrom(1, LIMIT_MAX), 'create: calls a minute (default: no limit)'),
  atOnce: commandFlag('at-once', integerFrom(1, LIMIT_MAX), 'create: concurrent calls (default: no limit)'),
  credits: commandFlag(
    'credits',
    integerFrom(0, TOKENS_MAX),
    'create, credit: tokens that the key may spend (default: no limit)',
  ),
  json: jsonFlag,
};

type OwnFlags = OptionValues<typeof own>;

/** API keys of the HTTP service. A running service applies every change within seconds. */
export const keysCommand = command({
  operands: ['ACTION', '[KEY]'],
  own,
  settings: { dataDir: processOptions.dataDir, ...storeOptions },
  async run({ operands: [action, named], values, config: { dataDir, storeUrl: url } }, io) {
    const problem = usageProblem(action, named, values);
    if (problem !== null) {
      io.err(problem);
      return WRONG_USE;
    }
    const database = await openDatabase({ dataDir, url });
    try {
      if (action === 'create') return await create(database, values, io);
      if (action === 'list') return await list(database, values, io);
      const key = await findOneKey(database, named, io);
      if (key === null) return WRONG_USE;
      io.out(await changed(database, key, action, values));
      return DONE;
    } finally {
      await database.close();
    }
  },
});

function usageProblem(action: string, named: string | undefined, values: OwnFlags): string | null {
  const { credits, role, json: _, ...others } = values;
  const flagged = Object.values(others).some((value) => value !== undefined);
  const [credited, roled] = [credits !== undefined, role !== undefined];
  switch (action) {
    case 'create':
    case 'list':
      if (named !== undefined) return `${action} takes no KEY; name a new key with --name`;
      if (action === 'list' && (flagged || credited || roled)) return 'list takes no flags of a key';
      return null;
    case 'revoke':
    case 'credit':
    case 'role':
      if (named === undefined) return `${action} needs a KEY: its id, or the start of one`;
      if (flagged) return `${action} takes no flags of "create"`;
      if (action === 'credit' && !credits) return 'credit needs --credits, the tokens to add';
      if (action === 'role' && !roled) return `role needs --role: ${KEY_ROLES.join(', ')}`;
      if (action !== 'credit' && credited) return `${action} takes no --credits`;
      return action !== 'role' && roled ? `${action} takes no --role` : null;
    default:
      return `ACTION must be create, list, revoke, credit or role, got ${JSON.stringify(action)}`;
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
  const { name = 'unnamed', owner = id, role = 'operator' } = flags;
  const key = { id, owner, name, role, createdAtMs, expiresAtMs, ...limits };
  await createApiKey(database, { ...key, secret }, OPERATOR);
  io.err(`Key ${id} was created. It is shown only now:`);
  io.out(flags.json ? JSON.stringify({ ...key, key: secret }) : secret);
  return DONE;
}

async function list(database: Database, { json }: OwnFlags, io: CommandIo): Promise<ExitCode> {
  const nowMs = Date.now();
  if (json) {
    for (const key of await listApiKeys(database)) io.out(JSON.stringify({ ...key, state: keyState(key, nowMs) }));
    return DONE;
  }
  const titles = [
    ...['ID', 'BEGINS', 'NAME', 'OWNER', 'ROLE', 'STATE', 'CREATED', 'EXPIRES'],
    ...['A MINUTE', 'AT ONCE', 'CREDITS', 'MODELS'],
  ];
  const rows = (await listApiKeys(database)).map((key) => cellsOf(key, nowMs));
  for (const line of alignedLines([titles, ...rows])) io.out(line);
  return DONE;
}

function cellsOf(key: ApiKey, nowMs: number): string[] {
  const { callsPerMinute, callsAtOnce, credits, models } = key;
  return [
    ...[key.id, `${key.prefix}…`, key.name, key.owner === key.id ? '-' : key.owner, key.role, keyState(key, nowMs)],
    ...[formatDay(key.createdAtMs), key.expiresAtMs === null ? '-' : formatDay(key.expiresAtMs)],
    ...[callsPerMinute, callsAtOnce, credits].map((limit) => (limit === null ? '-' : String(limit))),
    models === null ? 'all' : models.join(','),
  ];
}

const formatDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The only key of this name; null, with the reason printed, where none or several match. */
async function findOneKey(database: Database, named: string, io: CommandIo): Promise<ApiKey | null> {
  const keys = await matchApiKeys(database, named);
  if (keys.length === 1) return keys[0];
  const found = keys.map(({ id, name }) => `${id} (${name})`).join(', ');
  io.err(
    keys.length === 0 ? `There is no key ${JSON.stringify(named)}; keys list shows them` : `Which of these: ${found}`,
  );
  return null;
}

/** Changes a key, and returns what became of it. */
async function changed(database: Database, { id, name }: ApiKey, action: string, flags: OwnFlags): Promise<string> {
  const by = { nowMs: Date.now(), actor: OPERATOR };
  const key = `Key ${id} (${name})`;
  if (action === 'role') {
    await changeRole(database, { id, role: flags.role! }, by);
    return `${key} has the role ${flags.role}`;
  }
  if (action === 'credit') {
    return `${key} has ${await grantCredits(database, { id, tokens: flags.credits! }, by)} tokens left to spend`;
  }
  const isNow = await revokeApiKey(database, id, by);
  return isNow ? `${key} is revoked; running services refuse it within 5 s` : `Key ${id} was revoked before`;
}
