// Sends a recording and prints its translation: node examples/node-client.mjs FILE.wav [FROM TO]
// LINGUA_URL names the scheduler, LINGUA_TOKEN is a token of a client if the scheduler requires one.
import { readFile } from 'node:fs/promises';
import { openSession } from '@lingua/sdk/client';
// Node.js 22 has a WebSocket of its own; Node.js 20 needs one.
import { WebSocket } from 'ws';

const [file, srcLang = 'en', tgtLang = 'zh'] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node examples/node-client.mjs FILE.wav [FROM TO]');
  process.exit(2);
}
const { LINGUA_URL: url = 'http://127.0.0.1:5010', LINGUA_TOKEN: token } = process.env;
const session = openSession({ url, token, srcLang, tgtLang, WebSocket });

session.on('partial', ({ text }) => console.error(`… ${text}`));
session.on('result', ({ textAsr, textTranslated }) => console.log(`${textAsr}\n${textTranslated}`));
// Every utterance has one outcome: a result, or the reason why there is none.
session.on('missing', ({ reason, error }) => {
  console.error(`no translation: ${error?.message ?? reason}`);
  process.exitCode = 1;
});
session.on('error', ({ code, message, isFatal }) => {
  if (!isFatal) return;
  console.error(`${code}: ${message}`);
  process.exit(1);
});

session.sendUtterance(await readFile(file), { audioFormat: 'wav' });
await session.settled();
await session.close('done');
