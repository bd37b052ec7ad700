/**
 * A process of its own that plays clients of /ws/session, and nodes where they are needed. Arguments: mode, port, and by mode:
 *   idle N             opens N sessions and keeps them; "{}" when all are open
 *   paced N MS         N sessions, each a 3 KB chunk every 100 ms, for MS
 *   flood N MS         N connections, batches of chunks and one heartbeat that is answered, as fast as answers come
 *   utterances RATE MS whole utterances at a fixed rate, answered by nodes of this process
 * Prints one line of JSON; ends when its standard input does.
 */
import { floodSessions } from './load/flood.ts';
import { idleSessions, pacedSessions } from './load/paced.ts';
import { timedUtterances } from './load/utterances.ts';

const [mode, port, ...rest] = process.argv.slice(2) as [string, string, ...string[]];
const [first = 0, second = 0] = rest.map(Number);
const url = `ws://127.0.0.1:${port}`;

const modes: Record<string, () => Promise<object>> = {
  idle: () => idleSessions(url, first),
  paced: () => pacedSessions(url, first, second),
  flood: () => floodSessions(url, first, second),
  utterances: () => timedUtterances(url, first, second),
};

const result = await modes[mode]?.();
process.stdout.write(`${JSON.stringify(result ?? { error: `there is no mode ${mode}` })}\n`);
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();
