/** The house rules, as far as a test can hold them. Style that the formatter or the compiler holds is only checked to be switched on. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';

const ROOT = new URL('../', import.meta.url);
const SELF = 'test/tidy.test.ts';
const LINES_MAX = 300;
/** A suite is a list: longer is no harder to read. */
const TEST_LINES_MAX = 400;

const IGNORED = new Set([
  '.git',
  ...readFileSync(new URL('.gitignore', ROOT), 'utf8')
    .split('\n')
    .map((line) => line.replace(/\/$/, ''))
    .filter((line) => line !== ''),
]);

/** Paths of all files below a folder, relative to the root; what git ignores by name is left out. */
function filesBelow(folder: string): string[] {
  if (!existsSync(new URL(folder, ROOT))) return [];
  return readdirSync(new URL(folder === '' ? './' : `${folder}/`, ROOT), { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = posix.join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const room = (path: string) => /^src\/(?:([\w-]+)\/)?/.exec(path)?.[1] ?? posix.basename(path, '.ts');

const texts = new Map(
  ['.ci', 'deploy', 'schemas', 'src', 'test']
    .flatMap(filesBelow)
    .concat(readdirSync(ROOT).filter((name) => /\.(md|ya?ml)$/.test(name)))
    .filter((path) => /\.(ts|py|sh|md|ya?ml|json|css|html|properties)$|\/Dockerfile$|^\.ci\//.test(path))
    .map((path) => [path, read(path)]),
);
const sources = new Map([...texts].filter(([path]) => /^src\/.*\.ts$/.test(path)));
const programs = new Map([...texts].filter(([path]) => path.endsWith('.ts')));

interface Import {
  readonly path: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

/** `import ... from`, `export ... from`, `import(...)` and `new URL(..., import.meta.url)` of code. */
function importsOf(files: ReadonlyMap<string, string>): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)|new URL\('([^']+\.ts)', import\.meta\.url\)/gm;
  return [...files].flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map(([, type, target, dynamic, url]) => {
      return { path, target: target ?? dynamic ?? url, typeOnly: type !== undefined };
    }),
  );
}

const imports = importsOf(programs);
const sourceImports = imports.filter(({ path }) => path.startsWith('src/'));
const isRelative = ({ target }: Import) => target.startsWith('.');

/** Fails with every offence, one a line. */
function none(offences: readonly string[]): void {
  assert.equal(offences.length, 0, `\n${offences.join('\n')}`);
}

/** `path:line: match` of every match in these files. */
function matches(files: ReadonlyMap<string, string>, pattern: RegExp): string[] {
  return [...files].flatMap(([path, text]) =>
    path === SELF
      ? []
      : [...text.matchAll(pattern)].map((match) => {
          const line = text.slice(0, match.index).split('\n').length;
          return `${path}:${line}: ${match[0].trim()}`;
        }),
  );
}

const DETECTING = ['detector', 'forecast', 'calendar'];
/** Which rooms a room may import from, besides its own and `service-error`. */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  main: ['command', 'config'],
  command: ['stream', 'sidecar', 'local-kafka', 'model', 'store', 'sandbox', 'telemetry', 'config', ...DETECTING],
  stream: ['config', 'telemetry', ...DETECTING],
  sidecar: ['model', 'store', 'sandbox', 'telemetry', ...DETECTING],
  config: DETECTING,
  model: ['forecast', 'sandbox'],
  store: [],
  detector: ['forecast', 'calendar'],
  forecast: [],
  calendar: [],
  sandbox: [],
  telemetry: [],
  'local-kafka': [],
  'service-error': [],
};

/** Imports of types alone. */
const TYPES_ONLY: Readonly<Record<string, string>> = { model: 'forecast' };

test('rooms import only in the allowed directions', () => {
  none(
    sourceImports.filter(isRelative).flatMap(({ path, target, typeOnly }) => {
      const to = posix.join(posix.dirname(path), target);
      const [from, into] = [room(path), room(to)];
      if (!(from in DIRECTIONS)) return [`${path}: src/${from} is no known room`];
      const isFailure = into === 'service-error' && !DETECTING.includes(from);
      const allowed = to.startsWith('src/') && (from === into || isFailure || DIRECTIONS[from].includes(into));
      const needsType = TYPES_ONLY[from] === into && !typeOnly;
      return allowed && !needsType ? [] : [`${path} imports ${to}`];
    }),
  );
});

const ANSWERING = ['sidecar/jobs', 'sidecar/tasks', 'sidecar/models', 'sidecar/accounts', 'sidecar/wire'];

/** Inside a room: which folders of it a folder may import from, besides itself. A room that stands here has all its folders here. */
const FOLDER_DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  forecast: [],
  'forecast/exogenous': ['forecast'],
  'sidecar/http': ['sidecar/http/routes', 'sidecar/http/exchange', ...ANSWERING],
  'sidecar/http/routes': ['sidecar/http/exchange', ...ANSWERING],
  'sidecar/http/exchange': ANSWERING,
  'sidecar/jobs': ['sidecar/tasks', 'sidecar/models', 'sidecar/accounts', 'sidecar/wire'],
  'sidecar/tasks': ['sidecar/models', 'sidecar/accounts', 'sidecar/wire'],
  'sidecar/models': ['sidecar/accounts', 'sidecar/wire'],
  'sidecar/accounts': ['sidecar/wire'],
  'sidecar/wire': [],
  model: [],
  'model/tuning': ['model'],
  'stream/log': [],
  'stream/log/kafka': ['stream/log'],
  'stream/record': [],
  'stream/codec': ['stream/record'],
  'stream/changelog': ['stream/record'],
  'stream/engine': ['stream/changelog', 'stream/codec', 'stream/record', 'stream/log'],
  'stream/demo': ['stream/engine', 'stream/codec'],
};

const roomsWithDirections = new Set(Object.keys(FOLDER_DIRECTIONS).map((name) => name.split('/')[0]));

test('folders inside a room import in one direction', () => {
  const folder = (path: string) => posix.dirname(path).slice('src/'.length);
  none(
    sourceImports.filter(isRelative).flatMap(({ path, target }) => {
      const to = posix.join(posix.dirname(path), target);
      const [from, into] = [folder(path), folder(to)];
      if (from === into || room(path) !== room(to) || !roomsWithDirections.has(room(path))) return [];
      return FOLDER_DIRECTIONS[from]?.includes(into) ? [] : [`${path} imports ${to}`];
    }),
  );
});

test('the detector and calendar rooms do no I/O and know neither clock nor chance', () => {
  const detector = new Map([...sources].filter(([path]) => ['detector', 'calendar'].includes(room(path))));
  none([
    ...importsOf(detector)
      .filter((found) => !isRelative(found) && found.target !== 'node:assert/strict' && found.target !== 'node:assert')
      .map(({ path, target }) => `${path} imports ${target}`),
    ...matches(
      detector,
      /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\bsetTimeout\(|\bawait import\(/g,
    ),
  ]);
});

/** Each vendor package is known in one place only, so that it can be exchanged there. */
const VENDORS: Readonly<Record<string, string>> = {
  '@fastify/swagger': 'src/sidecar/http/',
  '@fastify/swagger-ui': 'src/sidecar/http/',
  '@fastify/type-provider-typebox': 'src/sidecar/http/',
  fastify: 'src/sidecar/http/',
  typebox: 'src/sidecar/',
  'csv-parse': 'src/command/csv/',
  kafkajs: 'src/stream/log/kafka/',
  pg: 'src/store/',
  'onnxruntime-node': 'src/model/',
  '@confluentinc/schemaregistry': 'src/stream/codec/',
  avsc: 'src/stream/codec/',
  protobufjs: 'src/stream/codec/',
  'prom-client': 'src/telemetry/',
  pino: 'src/telemetry/',
  yaml: 'src/config/',
};

test('a vendor package is imported in its own room only, and every one has a room', () => {
  none(
    sourceImports
      .filter((found) => !isRelative(found) && !found.target.startsWith('node:'))
      .flatMap(({ path, target }) => {
        const owned = Object.entries(VENDORS).find(([name]) => target === name || target.startsWith(`${name}/`));
        if (owned === undefined) return [`${path} imports ${target}, which has no room`];
        return path.startsWith(owned[1]) ? [] : [`${path} imports ${target}, which belongs to ${owned[1]}`];
      }),
  );
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

test('the compiler and the linter hold the style of the language', () => {
  const { compilerOptions } = JSON.parse(read('tsconfig.json'));
  for (const option of ['strict', 'erasableSyntaxOnly', 'verbatimModuleSyntax', 'exactOptionalPropertyTypes']) {
    assert.equal(compilerOptions[option], true, option);
  }
  const { rules } = JSON.parse(read('.biome.json')).linter;
  for (const [group, rule] of [
    ['style', 'noDefaultExport'],
    ['style', 'noEnum'],
    ['style', 'noNamespace'],
    ['style', 'noParameterProperties'],
    ['style', 'useImportType'],
    ['suspicious', 'noExplicitAny'],
    ['performance', 'noBarrelFile'],
    ['complexity', 'noExcessiveLinesPerFunction'],
  ]) {
    const setting = rules[group]?.[rule];
    assert.equal(typeof setting === 'object' ? setting.level : setting, 'error', `${group}/${rule}`);
  }
});

test('no rule is switched off where it bites, without a reason', () => {
  none(matches(programs, /@ts-(?:ignore|nocheck|expect-error)(?!:? \w).*|biome-ignore(?! [\w/]+: \w).*/g));
});

test(`no source is longer than ${LINES_MAX} lines, no test than ${TEST_LINES_MAX}`, () => {
  none(
    [...programs].flatMap(([path, text]) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > (path.startsWith('test/') ? TEST_LINES_MAX : LINES_MAX) ? [`${path} has ${lines} lines`] : [];
    }),
  );
});

test('a file is named by what it is about', () => {
  const vague = /(?:^|-)(?:utils?|helpers?|common|core|managers?|misc|base|impl|index)$/;
  none(
    [...programs.keys()].flatMap((path) => {
      const name = posix.basename(path).replace(/(?:\.test)?\.ts$/, '');
      return vague.test(name) || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? [path] : [];
    }),
  );
});

const TOP_LEVEL = new Set(
  `src test deploy schemas package.json package-lock.json tsconfig.json docker-compose.yml README.md LICENSE
  CONTRIBUTING.md CHANGELOG.md shared`.split(/\s+/),
);

test('the top level holds what the house plan names, and nothing else', () => {
  none(readdirSync(ROOT).filter((name) => !name.startsWith('.') && !IGNORED.has(name) && !TOP_LEVEL.has(name)));
});

test('names of metrics stand in telemetry/metrics.ts alone, and others quote only names that are there', () => {
  const home = 'src/telemetry/metrics.ts';
  const elsewhere = new Map([...texts].filter(([path]) => path !== home && !path.startsWith('test/')));
  const code = new Map([...elsewhere].filter(([path]) => path.startsWith('src/') && path.endsWith('.ts')));
  none(matches(code, /\btidewatch_[a-z_]+/g));
  const known = new Set([...read(home).matchAll(/(?:\('|'tidewatch_)([a-z_]+)',/g)].map(([, name]) => name));
  none(
    matches(elsewhere, /\btidewatch_[a-z_]+/g).filter((found) => {
      const name = found.slice(found.lastIndexOf('tidewatch_') + 'tidewatch_'.length);
      return !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, ''));
    }),
  );
});

test('every unit test mirrors a file, or a folder of what is no program', () => {
  const tests = [...programs.keys()].filter((path) => path.startsWith('test/unit/') && path.endsWith('.test.ts'));
  none(
    tests.filter((path) => {
      const mirrored = path.slice('test/unit/'.length).replace(/\.test\.ts$/, '');
      return ![`src/${mirrored}.ts`, `${mirrored}.ts`, mirrored].some((source) => existsSync(new URL(source, ROOT)));
    }),
  );
});

test('tests stand in the folders the house plan names', () => {
  const folders = /^test\/(?:unit|property|contract|api|e2e|fault|golden|bench|fixture)\/|^test\/tidy\.test\.ts$/;
  none([...programs.keys()].filter((path) => path.startsWith('test/') && !folders.test(path)));
});

test('no test runs alone, and none is skipped without a reason', () => {
  const tests = new Map([...programs].filter(([path]) => path.startsWith('test/')));
  none([
    ...matches(tests, /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\(|\bonly: true/g),
    ...matches(tests, /\b(?:skip|todo): true|\bt\.(?:skip|todo)\(\)/g),
  ]);
});

test('dependencies are pinned to exact versions', () => {
  const { dependencies, devDependencies } = packageJson();
  none(
    Object.entries({ ...dependencies, ...devDependencies })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${name} ${version}`),
  );
});

test('the lock file knows the packages of every platform, or a clean install is refused', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Readonly<Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>>;
  };
  const locked = Object.keys(packages);
  none(
    Object.values(packages)
      .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
      .filter((name) => !locked.some((path) => path.endsWith(`node_modules/${name}`))),
  );
});

test('no file names a place of one machine, or a number of an issue', () => {
  none(matches(texts, /(?<![\w.@-])\/(?:home|root|Users|work|mnt)\/[\w.-]+/g));
  const prose = new Map([...texts].filter(([path]) => /\.(ts|py|md|ya?ml)$/.test(path)));
  none(matches(prose, /(?<![\w&"'(:])#\d+\b|\bGH-\d+\b|\bissues?\/\d+/g));
});

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

function packageJson(): PackageJson {
  return JSON.parse(read('package.json'));
}
