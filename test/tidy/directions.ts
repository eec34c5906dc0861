/** What may import what. */
import { posix } from 'node:path';
import { test } from 'node:test';
import { isRelative, none, room, sourceImports, sources } from './project.ts';

type Directions = Readonly<Record<string, readonly string[]>>;

/** Rooms that know of no failure but a bug. */
const GROUND = ['detector', 'forecast', 'calendar', 'record', 'series'];
/** Imports of our own files, as paths. */
const crossings = sourceImports.filter(isRelative).map(({ path, target, typeOnly, program }) => {
  return { from: path, into: posix.join(posix.dirname(path), target), typeOnly, program };
});

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

/** Which rooms a room may import from, besides its own and `service-error`. */
const DIRECTIONS = directionsOf(`
  main: command terminal config
  command: run suggest backtest demo terminal detector-models stream kafka alerts finding history holidays local-kafka
    model store telemetry config forecast calendar series
  run: changes ingest suggest calendar record backtest terminal detector-models stream kafka sidecar alerts console
    finding history prometheus model store telemetry config forecast series incidents owner
  backtest: terminal detector-models stream sidecar sandbox console model store config calendar record incidents
  ingest: stream config record series
  demo: terminal stream kafka config record
  detector-models: stream model store config forecast
  terminal: stream config record series
  prometheus: history stream kafka telemetry config series record
  alerts: changes owner telemetry config calendar record series
  console: sidecar record series
  stream: changes kafka finding config telemetry detector forecast calendar record series
  kafka: config
  sidecar: changes finding history holidays incidents model store sandbox telemetry detector forecast calendar record
    series
  config: holidays incidents detector forecast calendar record series
  model: forecast sandbox
  history: record series
  store:
  suggest: detector forecast calendar series
  finding: calendar series
  detector: forecast calendar record series
  forecast:
  calendar:
  holidays: calendar
  changes: record series
  owner: record
  incidents: owner series record
  record:
  series:
  sandbox: config
  telemetry:
  local-kafka:
  service-error:
`);

/** Imports of types alone. */
const TYPES_ONLY: Readonly<Record<string, string>> = { model: 'forecast', console: 'sidecar' };

test('rooms import only in the allowed directions', () => {
  none(
    crossings.flatMap(({ from: path, into: to, typeOnly }) => {
      const [from, into] = [room(path), room(to)];
      if (!(from in DIRECTIONS)) return [`${path}: src/${from} is no known room`];
      const isFailure = into === 'service-error' && !GROUND.includes(from);
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
  alerts: state delivery receivers routes message
  alerts/state: routes message
  alerts/delivery: receivers message
  alerts/receivers: routes message network
  alerts/routes: message network
  alerts/message:
  alerts/network:
  run:
  run/alerts: . changes owner
  run/changes:
  run/incidents: . owner
  run/owner:
  run/operations: changes history
  run/history:
  run/prometheus: .
  run/suggest:
  terminal:
  terminal/csv:
  history: read sql port
  history/read: sql port
  history/sql: port
  history/port:
  incidents: membership origins
  incidents/membership:
  incidents/origins: membership
  detector/batch: event grade memory alarm calibration
  detector/series: event grade memory alarm calibration
  detector/event: grade memory alarm
  detector/grade: memory alarm calibration
  detector/memory: profile alarm calibration
  detector/profile: alarm calibration
  detector/alarm: calibration
  detector/calibration:
  console: page view
  console/page: page/pages page/pages/detectors page/pages/events page/pages/incidents page/pages/series
    page/pages/service page/element page/source view
  console/page/pages: page/pages/events page/pages/incidents page/pages/series page/element page/source view
  console/page/pages/series: page/pages/events page/chart page/element page/source view
  console/page/pages/detectors: page/element page/source view
  console/page/pages/incidents: page/pages/events page/chart page/element view
  console/page/pages/events: page/chart page/element view
  console/page/pages/service: page/element page/source view
  console/page/chart: page/element view
  console/page/element: page/source view
  console/page/source: view
  console/view:
  config: keys schema
  config/keys: schema
  config/schema:
  forecast:
  forecast/exogenous: .
  forecast/relevance: . exogenous
  forecast/simulation: .
  sidecar/http: http/routes http/exchange accounts wire/body wire/schema/operations wire/schema wire
  sidecar/http/routes: http/exchange wire/schema/operations jobs tasks operations models accounts wire/schema wire
  sidecar/http/exchange: jobs operations models accounts wire/body wire
  sidecar/jobs: operations tasks models accounts wire/body wire
  sidecar/tasks: tasks/cross-validation tasks/forecast tasks/in-sample tasks/online-detection tasks/finetune
    tasks/explain tasks/simulate models accounts wire/schema wire
  sidecar/tasks/cross-validation: tasks/forecast tasks/in-sample tasks/series models accounts wire/schema wire
  sidecar/tasks/forecast: tasks/series models accounts wire/schema wire
  sidecar/tasks/in-sample: tasks/series models accounts wire/schema wire
  sidecar/tasks/online-detection: tasks/series models accounts wire/schema wire
  sidecar/tasks/finetune: tasks/series models accounts wire/schema
  sidecar/tasks/explain: tasks/series accounts wire/schema wire
  sidecar/tasks/simulate: tasks/forecast tasks/series models accounts wire/schema wire
  sidecar/tasks/series: models accounts wire/schema wire
  sidecar/operations: accounts wire/schema/operations wire/schema wire
  sidecar/models: accounts wire
  sidecar/accounts: wire
  sidecar/wire/body: wire/schema/operations wire/schema wire
  sidecar/wire/schema/operations: wire/schema
  sidecar/wire/schema: wire
  sidecar/wire:
  ingest:
  ingest/prometheus:
  kafka: produce fetch cluster batch
  kafka/admin: fetch membership cluster
  kafka/produce: cluster batch
  kafka/fetch: cluster batch
  kafka/membership: cluster
  kafka/cluster: batch
  kafka/batch:
  model:
  model/tuning: .
  store: database
  store/database: schema
  store/schema:
  stream/log:
  stream/topics:
  stream/codec/points: codec
  stream/codec:
  stream/changelog:
  stream/engine: engine/commit engine/state engine/unit changelog codec codec/points log
  stream/engine/offline: engine/commit engine/state engine/arrival engine/group engine/unit changelog log
  stream/engine/commit: engine/state engine/unit changelog codec codec/points log
  stream/engine/state: engine/arrival engine/group engine/unit changelog log
  stream/engine/arrival: engine/group engine/unit changelog
  stream/engine/group: engine/unit changelog
  stream/engine/unit: changelog log
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
