// Reports what the speech node's engines can do, on human recordings: npm run speech:test -- [--json] [--limit N] [--talks N]
// First recognition, repair and translation, then conversations through the Talk page in Chromium (--talks, 20 unless told).
import { parseArgs } from 'node:util';
import { table } from '../bench/dist/show.js';
import { createProcessTerminal } from '../packages/speech-node/dist/cli/terminal.js';
import { runSpeechTest } from '../packages/speech-node/dist/quality/run-speech-test.js';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    limit: { type: 'string', default: '100000' },
    talks: { type: 'string', default: '20' },
  },
});
const [limit, talks] = [numberOf('limit', 1), numberOf('talks', 0)];
try {
  process.exitCode = await runSpeechTest({ limit, isJson: values.json }, createProcessTerminal());
  if (talks > 0) await talk();
} catch (error) {
  console.error(`speech:test: ${error.message}`);
  process.exitCode = 1;
}

/** Reports each conversation and the figures; a translation that was not played is a failure. */
async function talk() {
  const { speech } = await import('../bench/dist/speech/speech.js');
  const figures = await speech({ conversations: talks, sentences: Math.min(60, 3 * talks) });
  console.log(values.json ? JSON.stringify(figures, undefined, 2) : table(figures));
  const [{ value: played }] = figures;
  if (played < talks) process.exitCode = 1;
}

function numberOf(name, least) {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= least) return number;
  console.error(`speech:test: --${name} is "${values[name]}"; it must be a whole number, ${least} or more`);
  process.exit(2);
}
