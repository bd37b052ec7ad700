/** People who speak to the Talk page of a scheduler with real nodes: how soon they hear the translation, and what a node costs. */
import WebSocket from 'ws';
import { openSession } from '../../../packages/sdk/dist/client/index.js';
import { type Figure, median, percentile } from '../measure.ts';
import { logLine } from '../show.ts';
import { converse, type Heard } from './conversation.ts';
import { type Recording, recordings } from './recordings.ts';
import { type SpeechRig, startSpeech } from './speech-rig.ts';

export interface SpeechOptions {
  readonly conversations: number;
  /** For the cost of one. */
  readonly sentences: number;
}

const MINUTE_S = 60;

export async function speech({ conversations, sentences }: SpeechOptions): Promise<Figure[]> {
  const found = await recordings(conversations, AbortSignal.timeout(MINUTE_S * 1_000));
  return [...(await talks(found)), ...(await cost(found, sentences))].map((row) => ({
    scenario: 'speech',
    ...row,
  }));
}

type Row = Omit<Figure, 'scenario'>;

interface Talk extends Heard {
  /** Of the spoken job: from its creation to the message to its node, and from the node's result to the message to the page. */
  readonly schedulerMs: number;
}

/** One after another, each in a browser of its own. */
async function talks(found: readonly Recording[]): Promise<Row[]> {
  const rig = await startSpeech(2);
  const heard: Talk[] = [];
  try {
    for (const { said, sound } of found) {
      const one = await converse({ url: rig.url, sound });
      heard.push({ ...one, schedulerMs: await schedulerMsOf(rig.url, one) });
      logLine(`speech: said "${said}"\n  heard "${one.recognised}"\n  ${outcomeOf(one)}`);
    }
  } finally {
    await rig.stop();
  }
  return figuresOf(heard);
}

async function schedulerMsOf(url: string, { jobId, sentEpochMs = Number.NaN }: Heard): Promise<number> {
  if (jobId === undefined) return Number.NaN;
  const reply = await fetch(`${url}/v1/job/${jobId}`);
  const { timeline } = (await reply.json()) as {
    timeline: readonly { readonly state: string; readonly at_ms: number }[];
  };
  const at = (state: string): number => timeline.find((entry) => entry.state === state)?.at_ms ?? Number.NaN;
  return at('DISPATCHED') - at('CREATED') + sentEpochMs - at('FINISHED');
}

export const isPlayed = ({ soundEndedAt, loudest, translated, faults }: Heard): boolean =>
  soundEndedAt !== undefined && loudest > 0.05 && translated !== '' && faults.length === 0;

const outcomeOf = (one: Heard): string =>
  isPlayed(one)
    ? `played "${one.translated}", ${Math.round(toSound(one))} ms after the last frame`
    : `NOT PLAYED: ${one.missing ?? one.faults.join(', ')}`;

const toSound = ({ sealedAt = Number.NaN, soundAt = Number.NaN }: Heard): number => soundAt - sealedAt;

function figuresOf(heard: readonly Talk[]): Row[] {
  const played = heard.filter(isPlayed);
  const sorted = (value: (one: Talk) => number | undefined): number[] =>
    played
      .map((one) => value(one) ?? Number.NaN)
      .filter((each) => Number.isFinite(each))
      .sort((a, b) => a - b);
  const waits = sorted(toSound);
  const stage = (name: string): Row => ({
    name: `of it ${name} (p50)`,
    value: median(sorted(({ timings }) => timings?.[`${name}_ms`])),
    unit: 'ms',
  });
  const scheduler = sorted(({ schedulerMs }) => schedulerMs);
  const network = sorted(
    ({ sentEpochMs = Number.NaN, sealedEpochMs = Number.NaN, timings, schedulerMs }) =>
      sentEpochMs - sealedEpochMs - (timings?.total_ms ?? Number.NaN) - schedulerMs,
  );
  const interim = sorted(
    ({ firstChunkAt = Number.NaN, firstPartialAt = Number.NaN }) => firstPartialAt - firstChunkAt,
  );
  return [
    {
      name: `conversations of ${heard.length} whose translation was played`,
      value: played.length,
      unit: '',
      target: { atLeast: heard.length },
    },
    { name: 'last frame → first sound, p50', value: median(waits), unit: 'ms', target: { atMost: 500 } },
    {
      name: 'last frame → first sound, p95',
      value: percentile(waits, 0.95),
      unit: 'ms',
      target: { atMost: 1_000 },
    },
    {
      name: 'last frame → translated text, p50',
      value: median(sorted(({ textAt = Number.NaN, sealedAt = Number.NaN }) => textAt - sealedAt)),
      unit: 'ms',
    },
    ...['asr', 'semantic', 'nmt', 'tts'].map(stage),
    { name: 'of it scheduler, p50', value: median(scheduler), unit: 'ms' },
    { name: 'of it scheduler, p99', value: percentile(scheduler, 0.99), unit: 'ms', target: { atMost: 10 } },
    { name: 'of it sockets of browser and node, p50', value: median(network), unit: 'ms' },
    { name: 'of it sockets of browser and node, p99', value: percentile(network, 0.99), unit: 'ms' },
    {
      name: 'of it from the voice in the page to its sound (p50)',
      value: median(sorted(({ soundAt = Number.NaN, voiceAt = Number.NaN }) => soundAt - voiceAt)),
      unit: 'ms',
    },
    ...(interim.length === 0
      ? []
      : [
          {
            name: `first frame → first text while speaking (p50 of ${interim.length})`,
            value: median(interim),
            unit: 'ms',
          },
        ]),
  ];
}

/** One node, one sentence after another, without a browser. */
async function cost(found: readonly Recording[], sentences: number): Promise<Row[]> {
  const rig = await startSpeech(1);
  try {
    await speak(rig, found.slice(0, 2));
    const before = rig.usage();
    const spoken = Array.from({ length: sentences }, (_, index) => found[index % found.length] as Recording);
    const seconds = await speak(rig, spoken);
    const after = rig.usage();
    const cpu = after.cpuSeconds - before.cpuSeconds;
    return [
      { name: 'sentences per minute and core of CPU time', value: (MINUTE_S * sentences) / cpu, unit: '' },
      { name: 'sentences per minute of one worker', value: (MINUTE_S * sentences) / seconds, unit: '' },
      { name: 'memory of a node with one worker', value: after.nodeMb, unit: 'MB' },
      { name: 'memory with the programs that it runs', value: after.allMb, unit: 'MB' },
    ];
  } finally {
    await rig.stop();
  }
}

/** The next sentence when the last one has its result. Returns the seconds. */
async function speak({ url }: SpeechRig, spoken: readonly Recording[]): Promise<number> {
  const session = openSession({ url, WebSocket: WebSocket as never, srcLang: 'en', tgtLang: 'es' });
  const begun = performance.now();
  try {
    for (const { sound } of spoken) {
      session.sendUtterance(new Uint8Array(sound.buffer, sound.byteOffset, sound.byteLength));
      await session.settled();
    }
    return (performance.now() - begun) / 1_000;
  } finally {
    await session.close();
  }
}
