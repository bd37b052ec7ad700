/**
 * Runs in its own process: many listeners on ready-made sockets, spread over servers and languages. Its argument is ListenersOptions as
 * JSON. Sends its parent a message when all are connected; on each further message from it, what has arrived since the last one.
 */
import WebSocket from 'ws';

export interface ListenersOptions {
  readonly urls: readonly string[];
  readonly count: number;
  readonly languages: readonly string[];
  /** Of rooms, which they join in turn; none: the servers are bare relays. */
  readonly codes?: readonly string[];
}

/** Caption, "utterance language" → how many listeners have it, and when the last one got it (ns of the machine's clock). */
export type Arrivals = Readonly<Record<string, readonly [count: number, lastNs: string]>>;

export interface Reported {
  readonly arrivals: Arrivals;
  /** One frame as it came. */
  readonly sample: string;
}

const AT_ONCE = 50;
/** While many join at once, and before the nodes are ready. */
const PASSING = /"code":"(RATE_LIMITED|SCHEDULER_DEPENDENCY_DOWN|LANGUAGE_UNAVAILABLE)"/;
const AGAIN_MS = 300;
const TEXT = Buffer.from('"text":"u');

const { urls, count, languages, codes = [] } = JSON.parse(process.argv[2] ?? '{}') as ListenersOptions;
let arrivals = new Map<string, { count: number; lastNs: bigint }>();
let sample = '';

const initOf = (language: string): string =>
  JSON.stringify({
    type: 'session_init',
    client_version: 'bench',
    platform: 'web',
    src_lang: language,
    tgt_lang: language,
    supports: ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'],
  });

const joinOf = (language: string, code: string | undefined): string =>
  JSON.stringify({
    type: 'room_join',
    room_code: code,
    role: 'listener',
    hears: { lang: language, captions: true, voice: false, original: 'off' },
  });

function note(data: Buffer): void {
  const at = data.indexOf(TEXT);
  if (at < 0) return;
  const from = at + TEXT.length - 1;
  const text = data.toString('latin1', from, from + 16);
  const key = text.split(' ', 2).join(' ');
  const known = arrivals.get(key);
  const lastNs = process.hrtime.bigint();
  if (known === undefined) {
    arrivals.set(key, { count: 1, lastNs });
    sample = data.toString();
  } else {
    known.count += 1;
    known.lastNs = lastNs;
  }
}

function connect(at: number): Promise<void> {
  const url = urls[at % urls.length] ?? '';
  const language = languages[Math.floor(at / urls.length) % languages.length] ?? '';
  const code = codes[at % codes.length];
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
    ws.on('error', reject);
    ws.on('close', () => reject(new Error(`the connection of listener ${at} was closed`)));
    ws.on('open', () => ws.send(code === undefined ? language : initOf(language)));
    let isIn = false;
    ws.on('message', (data: Buffer) => {
      if (isIn) return note(data);
      const text = data.toString();
      if (code === undefined || text.startsWith('{"type":"room_state"')) {
        isIn = true;
        resolve();
      } else if (text.startsWith('{"type":"session_init_ack"')) ws.send(joinOf(language, code));
      else if (PASSING.test(text)) setTimeout(() => ws.send(joinOf(language, code)), AGAIN_MS);
      else if (text.includes('error')) reject(new Error(text));
    });
  });
}

for (let at = 0; at < count; at += AT_ONCE)
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, more) => connect(at + more)));

process.on('message', () => {
  const all = [...arrivals].map(([key, one]) => [key, [one.count, String(one.lastNs)]] as const);
  arrivals = new Map();
  process.send?.({ arrivals: Object.fromEntries(all), sample } satisfies Reported);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
