/** Dependencies, and what a program wrote. */
import { test } from 'node:test';
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
