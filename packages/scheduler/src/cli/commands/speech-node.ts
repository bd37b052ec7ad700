/** The command `lingua speech-node`: belongs to another package, which not every installation has. */
import type { CommandIo } from '../command-io.ts';

interface SpeechNodePackage {
  runSpeechNode(argv: readonly string[], io: CommandIo): Promise<number>;
}

/** In a variable, so that neither the compiler nor a bundler requires it. */
const PACKAGE: string = '@lingua/speech-node/command';

export async function runSpeechNode(argv: readonly string[], io: CommandIo): Promise<number> {
  let installed: SpeechNodePackage;
  try {
    installed = (await import(/* @vite-ignore */ PACKAGE)) as SpeechNodePackage;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why =
      code === 'ERR_MODULE_NOT_FOUND'
        ? 'it is not installed; run "npm install @lingua/speech-node"'
        : String(error);
    io.err(`lingua speech-node: the package @lingua/speech-node cannot be loaded: ${why}`);
    return 1;
  }
  return installed.runSpeechNode(argv, { env: process.env, ...io });
}
