/** Dependencies, and what a program wrote. */
import { test } from 'node:test';
import { thirdParties } from '../../deploy/package/licences.ts';
import { none, packageJson, read } from './project.ts';

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

/** The install script of this package downloads CUDA. The package works without it. */
const WITHOUT_INSTALL_SCRIPT = 'onnxruntime-node';

test(`an installation does not run the install script of ${WITHOUT_INSTALL_SCRIPT}, with any npm`, () => {
  const { packages } = JSON.parse(read('package-lock.json')) as {
    packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>;
  };
  // An npm that does not know allowScripts runs the scripts of the packages that the lock file marks.
  none(
    packages[`node_modules/${WITHOUT_INSTALL_SCRIPT}`].hasInstallScript ? ['package-lock.json: remove the mark'] : [],
  );
  none(packageJson().allowScripts[WITHOUT_INSTALL_SCRIPT] === false ? [] : ['package.json: allowScripts']);
});

test('generated and binary files are marked', () => {
  const attributes = read('.gitattributes');
  none(
    [
      /^package-lock\.json .*linguist-generated/m,
      /^schemas\/openapi\.json .*linguist-generated/m,
      /^\*\.onnx binary/m,
      /^\*\.bin binary/m,
    ]
      .filter((mark) => !mark.test(attributes))
      .map(String),
  );
});

/** What they ask for is to be named, which the file of licences does. */
const KNOWN_LICENCES = [
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-2-Clause-Views', 'BSD-3-Clause', 'Apache-2.0'],
  ...['BlueOak-1.0.0', 'CC0-1.0', 'CC-BY-3.0', 'PSF-2.0', 'Unlicense'],
];

test('every package that runs with this one has a licence that is known', () => {
  none(
    thirdParties().flatMap(({ path, licence }) => {
      const parts = (licence ?? 'none').replace(/[()]/g, '').split(/ AND | OR /);
      return parts.every((part) => KNOWN_LICENCES.includes(part)) ? [] : [`${path}: ${licence}`];
    }),
  );
});
