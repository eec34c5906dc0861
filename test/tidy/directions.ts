/** What may import what. */
import { posix } from 'node:path';
import { test } from 'node:test';
import { isRelative, none, room, sourceImports, sources } from './project.ts';

const DETECTING = ['detector', 'forecast', 'calendar'];
const PAGE_PARTS = ['console/page/chart', 'console/page/element', 'console/view'];
const SCORING = [...DETECTING, 'record', 'series'];
const TASK_PARTS = ['sidecar/models', 'sidecar/accounts', 'sidecar/wire/schema', 'sidecar/wire'];
/** Rooms that know of no failure but a bug. */
const GROUND = [...DETECTING, 'record', 'series'];
/** Imports of our own files, as paths. */
const crossings = sourceImports.filter(isRelative).map(({ path, target, typeOnly, program }) => {
  return { from: path, into: posix.join(posix.dirname(path), target), typeOnly, program };
});

/** Directions that nobody takes, as `from -> into`. */
function unused(directions: Readonly<Record<string, readonly string[]>>, used: ReadonlySet<string>): string[] {
  const allowed = Object.entries(directions).flatMap(([from, all]) => all.map((into) => `${from} -> ${into}`));
  return allowed.filter((direction) => !used.has(direction));
}

/** Which rooms a room may import from, besides its own and `service-error`. */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  main: ['command', 'terminal', 'config'],
  command: [
    'run',
    'suggest',
    'backtest',
    'demo',
    'terminal',
    'detector-models',
    'stream',
    'kafka',
    'alerts',
    'finding',
    'history',
    'local-kafka',
    'model',
    'store',
    'telemetry',
    'config',
    'forecast',
    'calendar',
    'series',
  ],
  run: [
    'changes',
    'ingest',
    'suggest',
    'calendar',
    'record',
    'backtest',
    'terminal',
    'detector-models',
    'stream',
    'kafka',
    'sidecar',
    'alerts',
    'console',
    'finding',
    'history',
    'prometheus',
    'model',
    'store',
    'telemetry',
    'config',
    'forecast',
    'series',
    'incidents',
    'owner',
  ],
  backtest: [
    'terminal',
    'detector-models',
    'stream',
    'sidecar',
    'sandbox',
    'console',
    'model',
    'store',
    'config',
    'calendar',
    'record',
    'incidents',
  ],
  ingest: ['stream', 'config', 'record', 'series'],
  demo: ['terminal', 'stream', 'kafka', 'config', 'record'],
  'detector-models': ['stream', 'model', 'store', 'config', 'forecast'],
  terminal: ['stream', 'config', 'record', 'series'],
  prometheus: ['history', 'stream', 'kafka', 'telemetry', 'config', 'series', 'record'],
  alerts: ['changes', 'owner', 'telemetry', 'config', 'calendar', 'record', 'series'],
  console: ['sidecar', 'record', 'series'],
  stream: ['changes', 'kafka', 'finding', 'config', 'telemetry', ...SCORING],
  kafka: ['config'],
  sidecar: [
    'changes',
    'finding',
    'history',
    'holidays',
    'incidents',
    'model',
    'store',
    'sandbox',
    'telemetry',
    ...SCORING,
  ],
  config: ['holidays', 'incidents', ...SCORING],
  model: ['forecast', 'sandbox'],
  history: ['store', 'record', 'series'],
  store: [],
  suggest: ['detector', 'forecast', 'calendar', 'series'],
  finding: ['calendar', 'series'],
  detector: ['forecast', 'calendar', 'record', 'series'],
  forecast: [],
  calendar: [],
  holidays: ['calendar'],
  changes: ['record', 'series'],
  owner: ['record'],
  incidents: ['owner', 'series', 'record'],
  record: [],
  series: [],
  sandbox: ['config'],
  telemetry: [],
  'local-kafka': [],
  'service-error': [],
};

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
 * Inside a room: which folders of it a folder may import from, besides itself. A room that stands here has all its
 * folders here.
 */
const FOLDER_DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  alerts: ['alerts/state', 'alerts/delivery', 'alerts/receivers', 'alerts/routes', 'alerts/message'],
  'alerts/state': ['alerts/routes', 'alerts/message'],
  'alerts/delivery': ['alerts/receivers', 'alerts/message'],
  'alerts/receivers': ['alerts/routes', 'alerts/message', 'alerts/network'],
  'alerts/routes': ['alerts/message', 'alerts/network'],
  'alerts/message': [],
  'alerts/network': [],
  run: [],
  'run/suggest': ['run'],
  'run/alerts': ['run', 'run/changes', 'run/owner'],
  'run/changes': [],
  'run/incidents': ['run', 'run/owner'],
  'run/owner': [],
  'run/operations': ['run/changes', 'run/history'],
  'run/history': [],
  'run/prometheus': ['run'],
  terminal: [],
  'terminal/csv': [],
  incidents: ['incidents/membership', 'incidents/origins'],
  'incidents/membership': [],
  'incidents/origins': ['incidents/membership'],
  'detector/batch': ['detector/event', 'detector/grade', 'detector/memory', 'detector/alarm', 'detector/calibration'],
  'detector/series': ['detector/event', 'detector/grade', 'detector/memory', 'detector/alarm', 'detector/calibration'],
  'detector/event': ['detector/grade', 'detector/memory', 'detector/alarm'],
  'detector/grade': ['detector/memory', 'detector/alarm', 'detector/calibration'],
  'detector/memory': ['detector/profile', 'detector/alarm', 'detector/calibration'],
  'detector/profile': ['detector/alarm', 'detector/calibration'],
  'detector/alarm': ['detector/calibration'],
  'detector/calibration': [],
  console: ['console/page', 'console/view'],
  'console/page': [
    'console/page/pages',
    'console/page/pages/detectors',
    'console/page/pages/events',
    'console/page/pages/incidents',
    'console/page/pages/series',
    'console/page/pages/service',
    'console/page/element',
    'console/page/source',
    'console/view',
  ],
  'console/page/pages': [
    'console/page/pages/events',
    'console/page/pages/incidents',
    'console/page/pages/series',
    'console/page/chart',
    'console/page/element',
    'console/page/source',
    'console/view',
  ],
  'console/page/pages/series': [
    'console/page/pages/events',
    'console/page/chart',
    'console/page/element',
    'console/page/source',
    'console/view',
  ],
  'console/page/pages/detectors': ['console/page/element', 'console/page/source', 'console/view'],
  'console/page/pages/incidents': ['console/page/pages/events', ...PAGE_PARTS],
  'console/page/pages/events': PAGE_PARTS,
  'console/page/pages/service': ['console/page/element', 'console/page/source', 'console/view'],
  'console/page/chart': ['console/page/element', 'console/view'],
  'console/page/element': ['console/page/source', 'console/view'],
  'console/page/source': ['console/view'],
  'console/view': [],
  config: ['config/keys', 'config/schema'],
  'config/keys': ['config/schema'],
  'config/schema': [],
  forecast: [],
  'forecast/exogenous': ['forecast'],
  'forecast/relevance': ['forecast', 'forecast/exogenous'],
  'forecast/simulation': ['forecast'],
  'sidecar/http': [
    'sidecar/http/routes',
    'sidecar/http/exchange',
    'sidecar/accounts',
    'sidecar/wire/body',
    'sidecar/wire/schema/operations',
    'sidecar/wire/schema',
    'sidecar/wire',
  ],
  'sidecar/http/routes': [
    'sidecar/http/exchange',
    'sidecar/wire/schema/operations',
    'sidecar/jobs',
    'sidecar/tasks',
    'sidecar/operations',
    ...TASK_PARTS,
  ],
  'sidecar/http/exchange': [
    'sidecar/jobs',
    'sidecar/operations',
    'sidecar/models',
    'sidecar/accounts',
    'sidecar/wire/body',
    'sidecar/wire',
  ],
  'sidecar/jobs': [
    'sidecar/operations',
    'sidecar/tasks',
    'sidecar/models',
    'sidecar/accounts',
    'sidecar/wire/body',
    'sidecar/wire',
  ],
  'sidecar/tasks': [
    'sidecar/tasks/cross-validation',
    'sidecar/tasks/forecast',
    'sidecar/tasks/in-sample',
    'sidecar/tasks/online-detection',
    'sidecar/tasks/finetune',
    'sidecar/tasks/explain',
    'sidecar/tasks/simulate',
    ...TASK_PARTS,
  ],
  'sidecar/tasks/cross-validation': [
    'sidecar/tasks/forecast',
    'sidecar/tasks/in-sample',
    'sidecar/tasks/series',
    ...TASK_PARTS,
  ],
  'sidecar/tasks/forecast': ['sidecar/tasks/series', ...TASK_PARTS],
  'sidecar/tasks/in-sample': ['sidecar/tasks/series', ...TASK_PARTS],
  'sidecar/tasks/online-detection': ['sidecar/tasks/series', ...TASK_PARTS],
  'sidecar/tasks/finetune': ['sidecar/tasks/series', 'sidecar/models', 'sidecar/accounts', 'sidecar/wire/schema'],
  'sidecar/tasks/explain': ['sidecar/tasks/series', 'sidecar/accounts', 'sidecar/wire/schema', 'sidecar/wire'],
  'sidecar/tasks/simulate': ['sidecar/tasks/forecast', 'sidecar/tasks/series', ...TASK_PARTS],
  'sidecar/tasks/series': ['sidecar/models', 'sidecar/accounts', 'sidecar/wire/schema', 'sidecar/wire'],
  'sidecar/operations': ['sidecar/accounts', 'sidecar/wire/schema/operations', 'sidecar/wire/schema', 'sidecar/wire'],
  'sidecar/models': ['sidecar/accounts', 'sidecar/wire'],
  'sidecar/accounts': ['sidecar/wire'],
  'sidecar/wire/body': ['sidecar/wire/schema/operations', 'sidecar/wire/schema', 'sidecar/wire'],
  'sidecar/wire/schema/operations': ['sidecar/wire/schema'],
  'sidecar/wire/schema': ['sidecar/wire'],
  'sidecar/wire': [],
  ingest: [],
  'ingest/prometheus': [],
  kafka: ['kafka/produce', 'kafka/fetch', 'kafka/cluster', 'kafka/batch'],
  'kafka/admin': ['kafka/fetch', 'kafka/membership', 'kafka/cluster'],
  'kafka/produce': ['kafka/cluster', 'kafka/batch'],
  'kafka/fetch': ['kafka/cluster', 'kafka/batch'],
  'kafka/membership': ['kafka/cluster'],
  'kafka/cluster': ['kafka/batch'],
  'kafka/batch': [],
  model: [],
  'model/tuning': ['model'],
  store: ['store/database'],
  'store/database': ['store/schema'],
  'store/schema': [],
  'stream/log': [],
  'stream/topics': [],
  'stream/codec/points': ['stream/codec'],
  'stream/codec': [],
  'stream/changelog': [],
  'stream/engine': [
    'stream/engine/commit',
    'stream/engine/state',
    'stream/engine/unit',
    'stream/changelog',
    'stream/codec',
    'stream/codec/points',
    'stream/log',
  ],
  'stream/engine/offline': [
    'stream/engine/commit',
    'stream/engine/state',
    'stream/engine/arrival',
    'stream/engine/group',
    'stream/engine/unit',
    'stream/changelog',
    'stream/log',
  ],
  'stream/engine/commit': [
    'stream/engine/state',
    'stream/engine/unit',
    'stream/changelog',
    'stream/codec',
    'stream/codec/points',
    'stream/log',
  ],
  'stream/engine/state': [
    'stream/engine/arrival',
    'stream/engine/group',
    'stream/engine/unit',
    'stream/changelog',
    'stream/log',
  ],
  'stream/engine/arrival': ['stream/engine/group', 'stream/engine/unit', 'stream/changelog'],
  'stream/engine/group': ['stream/engine/unit', 'stream/changelog'],
  'stream/engine/unit': ['stream/changelog', 'stream/log'],
};

const roomsWithDirections = new Set(Object.keys(FOLDER_DIRECTIONS).map((name) => name.split('/')[0]));

const folderOf = (path: string) => posix.dirname(path).slice('src/'.length);
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
      .filter(({ from, into }) => !FOLDER_DIRECTIONS[folderOf(from)]?.includes(folderOf(into)))
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
  none(
    unused(FOLDER_DIRECTIONS, new Set(insideRooms.map(({ from, into }) => `${folderOf(from)} -> ${folderOf(into)}`))),
  );
});
