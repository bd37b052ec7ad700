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

/** One after another, each in a browser of its own. */
async function talks(found: readonly Recording[]): Promise<Row[]> {
  const rig = await startSpeech(2);
  const heard: Heard[] = [];
  try {
    for (const { said, sound } of found) {
      const one = await converse({ url: rig.url, sound });
      heard.push(one);
      logLine(`speech: said "${said}"\n  heard "${one.recognised}"\n  ${outcomeOf(one)}`);
    }
  } finally {
    await rig.stop();
  }
  return figuresOf(heard);
}

export const isPlayed = ({ soundEndedAt, loudest, translated, faults }: Heard): boolean =>
  soundEndedAt !== undefined && loudest > 0.05 && translated !== '' && faults.length === 0;

const outcomeOf = (one: Heard): string =>
  isPlayed(one)
    ? `played "${one.translated}", ${Math.round(toSound(one))} ms after the last frame`
    : `NOT PLAYED: ${one.missing ?? one.faults.join(', ')}`;

const toSound = ({ sealedAt = Number.NaN, soundAt = Number.NaN }: Heard): number => soundAt - sealedAt;

function figuresOf(heard: readonly Heard[]): Row[] {
  const played = heard.filter(isPlayed);
  const sorted = (value: (one: Heard) => number | undefined): number[] =>
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
  const overhead = sorted(
    ({ sentEpochMs = Number.NaN, sealedEpochMs = Number.NaN, timings }) =>
      sentEpochMs - sealedEpochMs - (timings?.total_ms ?? Number.NaN),
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
    ...['asr', 'semantic', 'nmt', 'tts'].map(stage),
    {
      name: 'of it scheduler and network, p50',
      value: median(overhead),
      unit: 'ms',
    },
    {
      name: 'of it scheduler and network, p99',
      value: percentile(overhead, 0.99),
      unit: 'ms',
      target: { atMost: 10 },
    },
    {
      name: 'of it from the result in the page to its sound (p50)',
      value: median(sorted(({ soundAt = Number.NaN, resultAt = Number.NaN }) => soundAt - resultAt)),
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
