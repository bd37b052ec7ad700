/** The command `lingua talk`: simulated people until their time is over or Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandIo, interruption } from '../command-io.ts';
import { seedOf } from '../simulated-node/seeded-chance.ts';
import { readTalk, TALK_USAGE, type TalkOptions } from './read-talk.ts';
import { createSimulatedPair, type SimulatedPair } from './simulated-pair.ts';
import { createLatencies, isFaultless, type Summary, sumUp } from './summary.ts';
import { eventJson, eventLine, summaryJson, summaryLine, type TalkEvent } from './talk-event.ts';

/** With more pairs than this only a periodic summary line is printed, not every utterance. */
const MOST_PRINTED = 20;
const PROGRESS_MS = 3_000;
/** From the first try to the first session, if there is a limit to the talk itself. */
const OPEN_MS = 10_000;

export async function runTalk(argv: readonly string[], io: CommandIo): Promise<number> {
  const read = readTalk(argv);
  if (read.kind === 'help') {
    io.out(TALK_USAGE);
    return 0;
  }
  if (read.kind === 'invalid') {
    for (const problem of read.problems) io.err(`lingua talk: ${problem}`);
    return 2;
  }
  const { talk } = read;
  const latencies = createLatencies();
  const pairs = Array.from({ length: talk.sessions }, (_, index) =>
    createSimulatedPair({ ...talk, seed: seedOf(talk.seed, index), onEvent: printEvents(index + 1) }),
  );
  const sum = (): Summary =>
    sumUp(
      pairs.map((pair) => pair.counts()),
      latencies.read(),
    );

  function printEvents(pair: number): (event: TalkEvent) => void {
    const isPrinted = talk.sessions <= MOST_PRINTED;
    return (event) => {
      if (event.kind === 'outcome' && event.report.latencyMs !== undefined)
        latencies.add(event.report.latencyMs);
      if (talk.isJson) io.out(eventJson(pair, event));
      else if (isPrinted) io.out(eventLine(pair, event, talk.languages));
    };
  }

  if (!talk.isJson) io.out(greeting(talk));
  const progress = setInterval(() => {
    if (!talk.isJson && talk.sessions > MOST_PRINTED) io.out(`… ${summaryLine({ ...sum(), lost: 0 })}`);
  }, PROGRESS_MS);
  const isServed = await letTalk(pairs, talk, io);
  await Promise.all(pairs.map((pair) => pair.stop()));
  clearInterval(progress);
  const summary = sum();
  // Without a session there is no summary to print.
  if (talk.isJson) io.out(summaryJson(summary));
  else if (isServed) io.out(summaryLine(summary));
  if (!isServed) io.err(`lingua talk: ${whyUnserved(talk)}`);
  return isServed && isFaultless(summary) ? 0 : 1;
}

/** False: not a single session was opened. */
async function letTalk(
  pairs: readonly SimulatedPair[],
  { seconds }: TalkOptions,
  io: CommandIo,
): Promise<boolean> {
  const over = new AbortController();
  const interrupted = interruption(io).then(() => 'interrupted' as const);
  const after = (ms: number) =>
    sleep(ms, 'over' as const, { signal: over.signal }).catch(() => 'over' as const);
  const first = Promise.any(pairs.map((pair) => pair.start())).then(
    () => 'open' as const,
    () => 'refused' as const,
  );
  try {
    const opened = await Promise.race([first, interrupted, ...(seconds === 0 ? [] : [after(OPEN_MS)])]);
    if (opened !== 'open') return false;
    await (seconds === 0 ? interrupted : Promise.race([interrupted, after(seconds * 1_000)]));
    return true;
  } finally {
    over.abort();
  }
}

const whyUnserved = ({ url, token }: TalkOptions): string =>
  `no session could be opened at ${url}; is a scheduler running there, and ` +
  (token === undefined ? 'does it require a --token?' : 'does it know this --token?');

const greeting = ({ sessions, languages, url, seconds }: TalkOptions): string =>
  `${sessions} ${sessions === 1 ? 'pair talks' : 'pairs talk'} (${languages.join(', ')}) → ${url} ` +
  (seconds === 0 ? '(Ctrl-C ends)' : `for ${seconds} s`);
