/** The `lingua-speech-node` command. */
import { runSpeechNode } from './cli/run-speech-node.ts';
import { createProcessTerminal } from './cli/terminal.ts';

process.exitCode = await runSpeechNode(process.argv.slice(2), createProcessTerminal());
