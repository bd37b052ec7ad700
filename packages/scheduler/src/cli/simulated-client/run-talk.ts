/** The command `lingua talk`: simulated people until their time is over or Ctrl-C. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type CommandIo, interruption } from '../command-io.ts';
import { seedOf } from '../simulated-node/seeded-chance.ts';
import { planTurn } from './plan-turn.ts';
import { type PairTalkOptions, readTalk, TALK_USAGE } from './read-talk.ts';
import { runRoomTalk } from './run-room-talk.ts';
import { createSimulatedSession, type SimulatedSession } from './simulated-session.ts';
import { createLatencies, isFaultless, type Summary, sumUp } from './summary.ts';
import { eventJson, eventLine, summaryJson, summaryLine, type TalkEvent, whyUnserved } from './talk-event.ts';

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
  return read.kind === 'room' ? runRoomTalk(read.talk, io) : runPairs(read.talk, io);
}

async function runPairs(talk: PairTalkOptions, io: CommandIo): Promise<number> {
  const latencies = createLatencies();
  const pairs = Array.from({ length: talk.sessions }, (_, index) =>
    createSimulatedSession({
      ...talk,
      url: talk.urls[index % talk.urls.length] ?? talk.urls[0],
      languages: faceToFace(talk.languages),
      next: planTurn,
      seed: seedOf(talk.seed, index),
      onEvent: printEvents(index + 1),
    }),
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
      if (talk.isJson) io.out(eventJson({ pair }, event));
      else if (isPrinted) io.out(eventLine(`pair ${pair}`, event, talk.languages));
    };
  }

  if (!talk.isJson) io.out(greeting(talk));
  const progress = setInterval(() => {
    if (!talk.isJson && talk.sessions > MOST_PRINTED) io.out(`… ${summaryLine({ ...sum(), lost: 0 })}`);
  }, PROGRESS_MS);
  const isServed = await letTalk(pairs, talk, io);
  await Promise.all(pairs.map((pair) => pair.finish().then(pair.close)));
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
  pairs: readonly SimulatedSession[],
  { seconds }: PairTalkOptions,
  io: CommandIo,
): Promise<boolean> {
  const over = new AbortController();
  const interrupted = interruption(io).then(() => 'interrupted' as const);
  const after = (ms: number) =>
    sleep(ms, 'over' as const, { signal: over.signal }).catch(() => 'over' as const);
  const first = Promise.any(pairs.map((pair) => pair.opened().then(() => pair.talk()))).then(
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

const faceToFace = ([langA, langB]: readonly [string, string]) =>
  ({ srcLang: 'auto', tgtLang: langB, mode: 'two_way_auto', langA, langB }) as const;

const greeting = ({ sessions, languages, urls, seconds }: PairTalkOptions): string =>
  `${sessions} ${sessions === 1 ? 'pair talks' : 'pairs talk'} (${languages.join(', ')}) → ${urls.join(', ')} ` +
  (seconds === 0 ? '(Ctrl-C ends)' : `for ${seconds} s`);
