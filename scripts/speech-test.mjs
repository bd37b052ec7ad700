// Reports the quality of the speech node's engines: npm run speech:test -- [--json] [--limit N]
import { parseArgs } from 'node:util';
import { createProcessTerminal } from '../packages/speech-node/dist/cli/terminal.js';
import { runSpeechTest } from '../packages/speech-node/dist/quality/run-speech-test.js';

const { values } = parseArgs({ options: { json: { type: 'boolean' }, limit: { type: 'string' } } });
const limit = Number(values.limit ?? Number.MAX_SAFE_INTEGER);
if (!Number.isInteger(limit) || limit < 1) {
  console.error(`speech:test: --limit is "${values.limit}"; it must be a whole number of recordings`);
  process.exit(2);
}
try {
  process.exitCode = await runSpeechTest({ limit, isJson: values.json === true }, createProcessTerminal());
} catch (error) {
  console.error(`speech:test: ${error.message}`);
  process.exitCode = 1;
}
