/** Objects of Kubernetes, KEDA and the Prometheus Operator, judged by the published schemas: values as data, names of fields as types. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../architecture/source-files.ts';
import { npm, run } from './packed.ts';

const SCHEMAS = [
  'kubernetes-models@5.1.0',
  '@kubernetes-models/keda@2.0.0',
  '@kubernetes-models/prometheus-operator@6.0.0',
];
/** Group → the package with its schemas; all others are of Kubernetes itself. */
const OTHERS: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda/keda.sh',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/monitoring.coreos.com',
};

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

export interface Schemas {
  /** What is wrong with the objects; empty: nothing. */
  complaints(objects: readonly KubernetesObject[]): Promise<string>;
  remove(): Promise<void>;
}

export async function installSchemas(): Promise<Schemas> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-schemas-'));
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await npm(folder, 'install', '--no-audit', '--no-fund', ...SCHEMAS);
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', types: [] },
      files: ['objects.ts'],
    }),
  );
  return {
    async complaints(objects) {
      // A literal with a field that its type does not have is an error of the compiler; at run time a schema accepts it.
      const typed = objects.map(
        (object, at) =>
          `import type { I${object.kind} as T${at} } from '${moduleOf(object)}';\nexport const o${at}: T${at} = ${JSON.stringify(object, undefined, 1)};\n`,
      );
      const valued = objects.map(
        (object) =>
          `{ const { ${object.kind}: Model } = await import('${moduleOf(object)}'); new Model(${JSON.stringify(object)}).validate(); }\n`,
      );
      await writeFile(join(folder, 'objects.ts'), typed.join(''));
      await writeFile(join(folder, 'objects.mjs'), valued.join(''));
      const said = async (...args: readonly string[]): Promise<string> =>
        run(process.execPath, [...args], { cwd: folder }).then(
          () => '',
          ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
        );
      return (
        (await said(join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder)) +
        (await said('objects.mjs'))
      );
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function moduleOf({ apiVersion }: KubernetesObject): string {
  const [group = '', version] = apiVersion.split('/');
  return version !== undefined && group in OTHERS
    ? `${OTHERS[group]}/${version}`
    : `kubernetes-models/${apiVersion}`;
}
