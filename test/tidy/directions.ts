/** What may import what. */
import { posix } from 'node:path';
import { test } from 'node:test';
import { isRelative, none, room, sourceImports, sources } from './project.ts';

type Directions = Readonly<Record<string, readonly string[]>>;

/** Rooms that know of no failure but a bug. */
const GROUND = ['detection', 'forecasting', 'time', 'records'];
/** Imports of our own files, as paths; not of the published schemas, which are data. */
const crossings = sourceImports
  .filter(isRelative)
  .map(({ path, target, typeOnly, program }) => {
    return { from: path, into: posix.join(posix.dirname(path), target), typeOnly, program };
  })
  .filter(({ into }) => !into.startsWith('schemas/'));

/** Of lines such as `from: into into`. A line that is too long goes on in the next one. */
function directionsOf(lines: string): Directions {
  const entries = lines.trim().split(/\s+(?=\S+:)/);
  return Object.fromEntries(entries.map((entry) => entry.split(':')).map(([from, into]) => [from, words(into)]));
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Directions that nobody takes, as `from -> into`. */
function unused(directions: Directions, used: ReadonlySet<string>): string[] {
  const allowed = Object.entries(directions).flatMap(([from, all]) => all.map((into) => `${from} -> ${into}`));
  return allowed.filter((direction) => !used.has(direction));
}

/** Which rooms a room may import from, besides its own. */
const DIRECTIONS = directionsOf(`
  main: app tools config ops
  app: demo pipelines tools engine codecs alerts console kafka api config incidents history singleton models records
    store forecasting ops time
  demo: tools engine codecs kafka config records ops
  pipelines: engine codecs kafka config history records ops
  tools: engine codecs api config incidents detection models records store forecasting ops sandbox time
  engine: checkpoint codecs kafka config detection models records store forecasting ops time
  checkpoint: kafka detection records ops time
  codecs: kafka config detection records ops time
  alerts: config singleton records ops time
  console: api records ops
  kafka: config ops
  api: detection history models records store forecasting ops sandbox time
  config: detection records forecasting sandbox time
  incidents: singleton records
  detection: records forecasting time
  history: records ops
  singleton: records ops
  models: forecasting ops sandbox
  records: time
  store: ops
  forecasting:
  ops:
  sandbox:
  time:
`);

/** Imports of types alone. */
const TYPES_ONLY: Readonly<Record<string, string>> = { models: 'forecasting', console: 'api' };

test('rooms import only in the allowed directions', () => {
  none(
    crossings.flatMap(({ from: path, into: to, typeOnly }) => {
      const [from, into] = [room(path), room(to)];
      if (!(from in DIRECTIONS)) return [`${path}: src/${from} is no known room`];
      const isFailure = to === 'src/ops/service-error.ts' && !GROUND.includes(from);
      const allowed = to.startsWith('src/') && (from === into || isFailure || DIRECTIONS[from].includes(into));
      const needsType = TYPES_ONLY[from] === into && !typeOnly;
      return allowed && !needsType ? [] : [`${path} imports ${to}`];
    }),
  );
});

test('every allowed direction between rooms is used', () => {
  const used = new Set(crossings.map(({ from, into }) => `${room(from)} -> ${room(into)}`));
  none(unused(DIRECTIONS, used));
});

/**
 * Inside a room: which folders of it a folder may import from, besides itself, by their path in the room; a dot is the
 * room itself. A room that stands here has all its folders here.
 */
const FOLDER_DIRECTIONS = directionsOf(`
  app/commands: processes processes/operations
  app/commands/files: commands processes
  app/commands/services: commands processes processes/alerts processes/history processes/incidents
    processes/operations processes/prometheus
  app/processes:
  app/processes/alerts: processes processes/changes processes/singleton
  app/processes/changes: processes
  app/processes/history: processes
  app/processes/incidents: processes processes/singleton
  app/processes/operations: processes processes/changes processes/history
  app/processes/prometheus: processes
  app/processes/singleton: processes
  demo:
  demo/local-kafka:
  pipelines/poll:
  pipelines/receive:
  pipelines/remote-write:
  tools/backtest: csv terminal
  tools/csv:
  tools/suggest:
  tools/terminal:
  checkpoint: series
  checkpoint/series: .
  engine: arrival commit log state strategy unit
  engine/arrival: group unit
  engine/commit: arrival log state unit
  engine/group: unit
  engine/log:
  engine/offline: arrival commit group log state unit
  engine/state: arrival group log unit
  engine/strategy: . arrival commit log state
  engine/topics:
  engine/unit: log
  codecs: formats
  codecs/formats:
  codecs/observations: formats
  codecs/points: formats observations
  alerts: delivery message receivers routes state
  alerts/delivery: message receivers
  alerts/message:
  alerts/network:
  alerts/receivers: message network routes
  alerts/routes: message network
  alerts/state: message routes
  console: page view
  console/page: page/element page/pages page/pages/detectors page/pages/events page/pages/incidents page/pages/series
    page/pages/service page/source view view/words
  console/page/chart: page/element view view/scores view/words
  console/page/element: page/source view view/scores view/words
  console/page/pages: page/element page/pages/events page/pages/incidents page/pages/series page/source view
    view/words
  console/page/pages/detectors: page/element page/source view view/words
  console/page/pages/events: page/chart page/element page/source view view/words
  console/page/pages/incidents: page/chart page/element page/pages/events page/source view view/scores view/words
  console/page/pages/series: page/chart page/element page/pages/events page/source view view/scores view/words
  console/page/pages/service: page/element page/source view view/words
  console/page/source: view view/scores view/words
  console/view: view/scores view/words
  console/view/scores:
  console/view/words: view
  kafka: batch cluster fetch produce protocol
  kafka/admin: cluster fetch membership
  kafka/batch:
  kafka/cluster: protocol
  kafka/fetch: batch cluster protocol
  kafka/membership: cluster protocol
  kafka/produce: batch cluster protocol
  kafka/protocol: batch
  api/accounts: wire
  api/accounts/keys: wire
  api/accounts/sign-in:
  api/grpc: accounts http http/exchange http/routes/points wire wire/body
  api/http: accounts http/exchange http/routes http/routes/points wire wire/body wire/schema wire/schema/operations
    wire/schema/tasks
  api/http/exchange: accounts accounts/keys accounts/sign-in jobs models operations wire wire/body
  api/http/routes: http/exchange http/routes/access http/routes/operations http/routes/points http/routes/tasks mcp
  api/http/routes/access: accounts accounts/sign-in http/exchange models wire wire/schema wire/schema/tasks
  api/http/routes/operations: accounts http/exchange operations wire wire/schema wire/schema/operations
  api/http/routes/points: http/exchange wire wire/schema
  api/http/routes/tasks: accounts http/exchange jobs models operations tasks wire wire/schema wire/schema/operations
    wire/schema/tasks
  api/jobs: accounts models operations tasks wire wire/body
  api/mcp: wire/schema
  api/models: accounts wire
  api/operations: accounts wire wire/schema/operations
  api/tasks: accounts models tasks/cross-validation tasks/explain tasks/finetune tasks/forecast tasks/in-sample
    tasks/online-detection tasks/simulate wire wire/schema/tasks
  api/tasks/cross-validation: accounts models tasks/forecast tasks/in-sample tasks/series wire wire/schema/tasks
  api/tasks/explain: accounts tasks/series wire wire/schema/tasks
  api/tasks/finetune: accounts models tasks/series wire/schema/tasks
  api/tasks/forecast: accounts models tasks/series wire wire/schema/tasks
  api/tasks/in-sample: accounts models tasks/series wire wire/schema/tasks
  api/tasks/online-detection: accounts models tasks/series wire wire/schema/tasks
  api/tasks/series: accounts models wire wire/schema/tasks
  api/tasks/simulate: accounts models tasks/forecast tasks/series wire wire/schema/tasks
  api/wire:
  api/wire/body: wire wire/schema wire/schema/operations wire/schema/tasks
  api/wire/schema: wire wire/schema/tasks
  api/wire/schema/operations: wire/schema wire/schema/tasks
  api/wire/schema/tasks: wire wire/schema
  config: keys options schema
  config/keys: options schema
  config/options: schema
  config/schema:
  incidents: membership origins
  incidents/membership:
  incidents/origins: membership
  detection/alarm: calibration
  detection/batch: alarm calibration event event/alarm event/kind event/open grade memory
  detection/calibration:
  detection/event: event/kind event/open grade memory
  detection/event/alarm: alarm event/kind grade memory
  detection/event/kind: memory
  detection/event/open: alarm event/kind
  detection/grade: alarm calibration memory
  detection/memory: alarm calibration profile
  detection/profile: alarm calibration
  detection/series: alarm calibration event/alarm event/kind event/open grade memory
  history: port read sql
  history/port:
  history/read: port sql
  history/sql: port
  models: context
  models/context:
  models/tuning: .
  records:
  records/changes: . series text
  records/diagnostics: series
  records/series:
  records/text:
  store: database ledger
  store/database: schema
  store/jobs: database ledger
  store/keys: database jobs
  store/ledger: database
  store/models: database
  store/reviews: database
  store/schema:
  forecasting:
  forecasting/exogenous: .
  forecasting/relevance: . exogenous simulation
  forecasting/simulation: .
  time:
  time/holidays: .
`);

const roomsWithDirections = new Set(Object.keys(FOLDER_DIRECTIONS).map((name) => name.split('/')[0]));

const folderOf = (path: string) => posix.dirname(path).slice('src/'.length);
const pathInRoom = (path: string) => posix.relative(room(path), folderOf(path)) || '.';
const foldersOfRooms = new Set([...sources.keys()].map(folderOf).filter((folder) => folder.includes('/')));

test('a room with folders has directions between them', () => {
  none([...foldersOfRooms].filter((folder) => !(folder in FOLDER_DIRECTIONS)));
});

const insideRooms = crossings.filter(
  ({ from, into }) => room(from) === room(into) && folderOf(from) !== folderOf(into),
);

test('folders inside a room import in one direction', () => {
  none(
    insideRooms
      .filter(({ from }) => roomsWithDirections.has(room(from)))
      .filter(({ from, into }) => !FOLDER_DIRECTIONS[folderOf(from)]?.includes(pathInRoom(into)))
      .map(({ from, into }) => `${from} imports ${into}`),
  );
});

test('no file imports itself by way of others', () => {
  const into = Map.groupBy(
    crossings.filter(({ program }) => !program),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' -> '));
    if (way.includes(path) || done.has(path)) return;
    for (const crossing of into.get(path) ?? []) visit(crossing.into, [...way, path]);
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  none(circles);
});

test('every allowed direction inside a room is used', () => {
  const used = new Set(insideRooms.map(({ from, into }) => `${folderOf(from)} -> ${pathInRoom(into)}`));
  none(unused(FOLDER_DIRECTIONS, used));
});
