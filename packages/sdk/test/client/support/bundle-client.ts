/** The client SDK as one minified ES module, built as an application's bundler would. */
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';

export interface Bundle {
  readonly code: string;
  /** Source files in the bundle. */
  readonly modules: readonly string[];
}

export async function bundleClient(): Promise<Bundle> {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: true,
      rolldownOptions: {
        input: fileURLToPath(new URL('../../../src/client/index.ts', import.meta.url)),
        preserveEntrySignatures: 'strict',
        output: { format: 'es' },
      },
    },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  const chunks = output.filter((file) => file.type === 'chunk');
  return {
    code: chunks.map((chunk) => chunk.code).join('\n'),
    modules: chunks.flatMap((chunk) => chunk.moduleIds).filter((id) => !id.startsWith('\0')),
  };
}
