/** What a room may know of the world outside: I/O, vendor packages, the environment. */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import {
  imports,
  importsOf,
  isRelative,
  matches,
  none,
  packageJson,
  ROOT,
  room,
  sourceImports,
  sources,
} from './project.ts';

/** Node's modules that neither read nor write. */
const PURE: ReadonlySet<string> = new Set(['node:assert', 'node:assert/strict', 'node:crypto']);
/** Loads its package where it is needed: it takes 36 MB. */
const HOLIDAYS = 'src/time/holidays/holiday-list.ts';

test('the detection, time and records rooms do no I/O and know neither clock nor chance', () => {
  const pure = new Map([...sources].filter(([path]) => ['detection', 'time', 'records'].includes(room(path))));
  none([
    ...importsOf(pure)
      .filter((found) => !isRelative(found) && !PURE.has(found.target) && found.path !== HOLIDAYS)
      .map(({ path, target }) => `${path} imports ${target}`),
    ...matches(
      pure,
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\bsetTimeout\(|\bawait import\(/g,
    ),
  ]);
});

/** The one file that knows it. */
const KAFKAJS = 'src/kafka/cluster/kafkajs.ts';

/** Each vendor package is known in one place only, so that it can be exchanged there. */
const VENDORS: Readonly<Record<string, string | readonly string[]>> = {
  '@grpc/grpc-js': 'src/api/grpc/',
  '@fastify/cors': 'src/api/http/',
  '@fastify/cookie': 'src/api/http/',
  '@fastify/swagger': 'src/api/http/',
  '@fastify/swagger-ui': 'src/api/http/',
  '@fastify/type-provider-typebox': 'src/api/http/',
  fastify: 'src/api/http/',
  '@modelcontextprotocol/server': ['src/api/mcp/', 'src/api/http/routes/mcp-route.ts'],
  // Bodies and settings have the same vocabulary of schemas.
  typebox: ['src/api/', 'src/config/'],
  preact: 'src/console/page/',
  htm: 'src/console/page/',
  uplot: 'src/console/page/',
  'csv-parse': 'src/tools/csv/',
  'date-holidays': HOLIDAYS,
  kafkajs: KAFKAJS,
  mustache: 'src/alerts/message/',
  nodemailer: 'src/alerts/receivers/',
  standardwebhooks: 'src/alerts/receivers/',
  'openid-client': 'src/api/accounts/',
  pg: 'src/store/database/',
  '@duckdb/node-api': 'src/history/',
  'onnxruntime-node': 'src/models/',
  '@confluentinc/schemaregistry': 'src/codecs/',
  avsc: 'src/codecs/',
  protobufjs: 'src/codecs/',
  'prom-client': 'src/ops/',
  pino: 'src/ops/',
  yaml: 'src/config/',
};

test('a vendor package is imported in its own room only, and every one has a room', () => {
  none(
    sourceImports
      .filter((found) => !isRelative(found) && !found.target.startsWith('node:'))
      .flatMap(({ path, target }) => {
        const owned = Object.entries(VENDORS).find(([name]) => target === name || target.startsWith(`${name}/`));
        if (owned === undefined) return [`${path} imports ${target}, which has no room`];
        const rooms = [owned[1]].flat();
        if (rooms.some((room) => path.startsWith(room))) return [];
        return [`${path} imports ${target}, which belongs to ${rooms.join(' and ')}`];
      }),
  );
  const others = new Map([...sources].filter(([path]) => path !== KAFKAJS && path !== HOLIDAYS));
  none(matches(others, /\bcreateRequire\b|['"]kafkajs\//g));
  none(Object.keys(packageJson().dependencies).filter((name) => !(name in VENDORS)));
});

test('only the configuration reads the environment', () => {
  const others = new Map([...sources].filter(([path]) => path.startsWith('src/') && room(path) !== 'config'));
  none(matches(others, /\bprocess\.env\b/g));
});

test('imports of our own files name the file, and the file is there', () => {
  none(
    imports.filter(isRelative).flatMap(({ path, target }) => {
      const to = posix.join(posix.dirname(path), target);
      return /\.(ts|json)$/.test(to) && existsSync(new URL(to, ROOT)) ? [] : [`${path} imports ${target}`];
    }),
  );
});
