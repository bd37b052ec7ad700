/** A random history of sessions: seeded events of clients, jobs and time, until all sessions ended. */
import type { SessionOutput } from '../../../src/session/output.ts';
import type { SessionView } from '../../../src/session/session-service.ts';
import { seededChance } from '../../runtime/fleet/fleet-fixture.ts';
import type { RecordingLink } from './recording-link.ts';
import type { ScriptedJob } from './scripted-dispatcher.ts';
import {
  type Client,
  createSessionRig,
  legacyOpening,
  opening,
  PRESSURE,
  SETTINGS,
  type SessionRig,
} from './session-rig.ts';

export type ClientKind = 'sdk' | 'plain' | 'legacy';

interface SentChunk {
  readonly seq: number;
  readonly text: string;
  readonly requestId: string | undefined;
}

/** One session from the view of its client. */
export interface Player {
  readonly kind: ClientKind;
  readonly sessionId: string;
  client: Client;
  readonly links: RecordingLink[];
  isConnected: boolean;
  isClosing: boolean;
  /** All audio that was sent and not refused, in order. */
  sent: string;
  readonly recent: SentChunk[];
  readonly uttered: Set<string>;
  /** The acknowledged numbers, by the number of outputs before them. */
  readonly acks: { after: number; deliverySeq: number }[];
  /** The session after all jobs ended. Absent: no client was connected. */
  view?: SessionView | undefined;
}

export interface History {
  readonly rig: SessionRig;
  readonly players: readonly Player[];
  /** Description of the events, for people. */
  readonly acts: readonly string[];
  readonly isTight: boolean;
}

/** All messages to it, over all its connections. */
export const toldTo = ({ links }: Player): SessionOutput[] => links.flatMap(({ sent }) => sent);

const TIGHT = {
  maxUtterances: 4,
  maxAudioBytes: 240,
  delivery: { ...SETTINGS.delivery, maxPendingResults: 2 },
  pressure: PRESSURE,
};
const ACTS = 90;
const KINDS: readonly ClientKind[] = ['sdk', 'sdk', 'plain', 'legacy'];
const PAUSES = [1, 40, 150, 200, 300, 900, 1_000, 1_150, 3_000, 10_000, 31_000];

export async function playHistory(seed: number): Promise<History> {
  const chance = seededChance(seed);
  const isTight = seed % 3 === 0;
  const rig = createSessionRig(isTight ? { settings: TIGHT, audioBytes: 600 } : {});
  const players: Player[] = [];
  const acts: string[] = [];
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(chance() * from.length)];
  const settledJobs = new Set<ScriptedJob>();
  const repeats = new Map<ScriptedJob, ScriptedJob>();
  let seq = 1_000;
  let spoken = 0;
  let names = 0;

  /** Every four letters occur only once. */
  function words(max: number): string {
    const count = Math.floor(chance() * (max + 1));
    return Array.from({ length: count }, () => (spoken++).toString(36).padStart(4, '.')).join('');
  }

  function join(kind: ClientKind): void {
    const abilities = kind === 'sdk' ? undefined : { abilities: new Set<string>() };
    const client = rig.open(kind === 'legacy' ? legacyOpening() : opening(abilities));
    players.push(playerOf(kind, client));
    acts.push(`${client.sessionId.slice(2, 6)} joins, ${kind}`);
  }

  const isRefused = (link: RecordingLink, before: number): boolean =>
    link.sent
      .slice(before)
      .some((one) => one.kind === 'error' && one.code === 'RATE_LIMITED' && !isAbout(one));

  function say(player: Player): void {
    const { client, isClosing } = player;
    const text = words(6);
    const isFinal = chance() < 0.35;
    const requestId = player.kind === 'sdk' && chance() < 0.6 ? `r${names}` : undefined;
    if (isFinal) names += 1;
    const before = client.link.sent.length;
    client.say(text, { seq: ++seq, isFinal, requestId });
    if (isClosing || isRefused(client.link, before)) return;
    player.sent += text;
    player.recent.push({ seq, text, requestId });
  }

  function utter(player: Player, text: string, requestId: string): void {
    const { link } = player.client;
    const before = link.sent.length;
    player.client.utter(text, { requestId });
    if (player.isClosing || isRefused(link, before)) return;
    // The same request in this session is the same utterance, unless it failed.
    const isRepeat = player.uttered.has(requestId) && !link.sent.slice(before).some(isInputEnded);
    if (!isRepeat) player.sent += text;
    player.uttered.add(requestId);
  }

  function resume(player: Player): void {
    const again = player.client.resume();
    if (again.sessionId !== player.sessionId) {
      players.push(playerOf(player.kind, again));
      return;
    }
    player.client = again;
    player.links.push(again.link);
    player.isConnected = true;
    // It resends audio without an acceptance.
    if (player.kind !== 'sdk') return;
    for (const { seq: old, text, requestId } of player.recent.slice(-2))
      again.say(text, { seq: old, requestId });
  }

  function acknowledge(player: Player): void {
    const seen = toldTo(player).flatMap((one) => (one.kind === 'outcome' ? [one.delivered.deliverySeq] : []));
    const deliverySeq = pick(seen);
    if (deliverySeq === undefined || player.kind !== 'sdk') return;
    player.client.send({ kind: 'acknowledged', deliverySeq });
    player.acks.push({ after: toldTo(player).length, deliverySeq });
  }

  function actOfClient(player: Player) {
    const what = chance();
    const { client } = player;
    if (!player.isConnected) {
      if (player.kind !== 'legacy' && what < 0.6 && !player.isClosing) return note(player, 'resumes', resume);
      return;
    }
    if (what < 0.6) return note(player, 'says', say);
    if (what < 0.66) return note(player, 'utters', (one) => utter(one, `${words(3)}!`, `u${names++}`));
    if (what < 0.7) {
      const earlier = pick(rig.dispatcher.jobs.filter(({ request }) => request.requestId?.startsWith('u')));
      if (earlier !== undefined)
        note(player, 'utters again', (one) => utter(one, earlier.text, earlier.request.requestId ?? ''));
    } else if (what < 0.76) note(player, 'acknowledges', acknowledge);
    else if (what < 0.8) client.send({ kind: 'heartbeat' });
    else if (what < 0.88) {
      const [outcome] = client.link.of('outcome').slice(-1);
      const groupId = outcome?.delivered.utterance.groupId ?? 'unknown';
      client.send({ kind: chance() < 0.5 ? 'playback_started' : 'playback_ended', groupId });
    } else if (what < 0.93) note(player, 'breaks off', leave);
    else if (what < 0.96 && player.kind !== 'legacy' && !player.isClosing) note(player, 'moves', resume);
    else if (what < 0.97) note(player, 'closes', close);
  }

  function note(player: Player, what: string, act: (player: Player) => void): void {
    act(player);
    acts.push(`${player.sessionId.slice(2, 6)} ${what}`);
  }

  /** Like the engine: a bound request id means the existing job. */
  async function dispatch(job: ScriptedJob): Promise<void> {
    const { requestId } = job.request;
    const isLive = (one: ScriptedJob) =>
      one !== job && one.record.fence !== undefined && one.record.failure === undefined && !isCancelled(one);
    const bound = rig.dispatcher.jobs.find(
      (one) => requestId !== undefined && one.request.requestId === requestId && isLive(one),
    );
    if (bound === undefined || isCancelled(job)) return job.dispatch();
    repeats.set(job, bound);
    return job.repeat(bound);
  }

  const isCancelled = (job: ScriptedJob): boolean =>
    rig.dispatcher.cancelled.some(({ jobId }) => jobId === job.jobId);

  async function actOfJob(job: ScriptedJob): Promise<void> {
    const what = chance();
    const isAnswered = job.record.fence !== undefined || settledJobs.has(job) || repeats.has(job);
    if (!isAnswered) {
      if (what < 0.15) job.admit();
      else if (what < 0.9) await dispatch(job);
      else
        await end(job, () =>
          job.refuse(pick(['NO_CAPABLE_NODE', 'RATE_LIMITED', 'JOB_TIMEOUT']) ?? 'JOB_TIMEOUT'),
        );
    } else if (repeats.has(job)) return;
    else if (what < 0.15) job.move('RUNNING');
    else if (what < 0.25) rig.service.partial(job.jobId, 'partly', chance() < 0.3);
    else if (what < 0.35 && !settledJobs.has(job)) job.retry();
    else if (what < 0.85) await end(job, () => job.finish());
    else if (what < 0.92) await end(job, () => job.finish({ textAsr: '', textTranslated: '', ttsAudio: '' }));
    else await end(job, () => job.fail('PROCESSING_ERROR'));
    acts.push(`job "${job.text}" of ${job.request.sessionId.slice(2, 6)}: ${job.record.state}`);
  }

  async function end(job: ScriptedJob, how: () => unknown): Promise<void> {
    // A node may report the same end twice.
    if (settledJobs.has(job)) return job.move(job.record.state);
    settledJobs.add(job);
    await how();
  }

  /** The engine ends every job by its deadline. */
  async function endJobs(): Promise<void> {
    for (const job of [...rig.dispatcher.jobs]) {
      if (settledJobs.has(job) || repeats.has(job)) continue;
      if (job.record.fence === undefined) await end(job, () => job.refuse('JOB_TIMEOUT'));
      else await end(job, () => job.fail('JOB_TIMEOUT'));
    }
  }

  for (let count = 1 + (seed % 3); count > 0; count--) join(pick(KINDS) ?? 'sdk');
  for (let count = 0; count < ACTS; count++) {
    const what = chance();
    const player = pick(players);
    const job = chance() < 0.7 ? pick(rig.dispatcher.jobs.slice(-4)) : pick(rig.dispatcher.jobs);
    if (what < 0.5 && player !== undefined) actOfClient(player);
    else if (what < 0.8 && job !== undefined) await actOfJob(job);
    else await pass(rig, pick(PAUSES) ?? 1, acts);
  }
  for (const player of [...players])
    if (!player.isConnected && !player.isClosing && chance() < 0.7 && player.kind !== 'legacy')
      note(player, 'resumes', resume);
  for (let round = 0; round < 3; round++) {
    await endJobs();
    await pass(rig, 35_000, acts);
  }
  await endJobs();
  const { sessions } = rig.service.list({ limit: 100 });
  for (const player of players) {
    const view = sessions.find(({ sessionId }) => sessionId === player.sessionId);
    if (player.isConnected && !player.isClosing) player.view = view;
    if (player.isConnected) (chance() < 0.5 ? close : leave)(player);
  }
  await pass(rig, 61_000, acts);
  return { rig, players, acts, isTight };
}

const playerOf = (kind: ClientKind, client: Client): Player => ({
  kind,
  sessionId: client.sessionId,
  client,
  links: [client.link],
  isConnected: true,
  isClosing: false,
  sent: '',
  recent: [],
  uttered: new Set(),
  acks: [],
});

export const isOf = (job: ScriptedJob, { sessionId }: Player): boolean => job.request.sessionId === sessionId;

/** Of an accepted utterance; the others are of refused audio, which may be a whole utterance, too. */
const isAbout = ({ details, message }: Extract<SessionOutput, { kind: 'error' }>): boolean =>
  details?.utterance_index !== undefined && !message.startsWith('no space for more audio');

const isInputEnded = (one: SessionOutput): boolean => one.kind === 'ui_event' && one.event === 'INPUT_ENDED';

function leave(player: Player): void {
  player.client.leave();
  player.isConnected = false;
  if (player.kind === 'legacy') player.isClosing = true;
}

function close(player: Player): void {
  player.client.send({ kind: 'close' });
  player.isClosing = true;
}

async function pass({ clock }: SessionRig, ms: number, acts: string[]): Promise<void> {
  acts.push(`${ms} ms pass`);
  await clock.advance(ms);
}
