/** A random history of clients and instances: seeded speech, jobs, handovers and deaths, until every utterance has its outcome. */
import type { SessionStore } from '../../../src/ports/session-store.ts';
import { seededChance } from '../../runtime/fleet/fleet-fixture.ts';
import { createInstancesRig, type InstancesRig, type RunningInstance } from './instances-rig.ts';
import { createMovingClient, type MovingClient } from './moving-client.ts';
import { SETTINGS } from './session-rig.ts';

export interface MovingHistory {
  readonly acts: readonly string[];
  readonly problems: readonly string[];
}

const NAMES = Array.from({ length: 12 }, (_, index) => `i${index}`);
const PAUSES = [1, 50, 200, 600, 1_200, 3_000];
const ACTS = 80;

export interface HistoryOptions {
  readonly store?: SessionStore;
  /** Whether jobs and the store fail, and owners do not reply. */
  readonly isRough: boolean;
}

export async function playMovingHistory(seed: number, options: HistoryOptions): Promise<MovingHistory> {
  const chance = seededChance(seed);
  const { isRough } = options;
  const rig = createInstancesRig({
    names: NAMES,
    // Jobs end at random times: gaps are closed only where jobs may fail.
    settings: isRough ? {} : { delivery: { ...SETTINGS.delivery, gapTimeoutMs: 10_000_000 } },
    ...(options.store && { store: options.store }),
  });
  const acts: string[] = [];
  const problems: string[] = [];
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(chance() * from.length)];
  const clients = Array.from({ length: 1 + (seed % 2) }, (_, at) => createMovingClient({}, `c${seed}-${at}`));
  const said = new Map<MovingClient, string[]>(clients.map((client) => [client, []]));
  const closed = new Set<string>();
  let words = 0;
  let nextInstance = 3;
  let living = NAMES.slice(0, nextInstance);

  const word = (client: MovingClient) => {
    const text = `w${(words++).toString(36)}.`;
    said.get(client)?.push(text);
    return text;
  };
  const instance = (name: string): RunningInstance => rig.instance(name);

  async function connect(client: MovingClient): Promise<void> {
    const name = pick(living) ?? '';
    client.leave();
    const connecting = client.connect(instance(name));
    let result: string | undefined;
    void connecting.then((kind) => {
      result = kind;
    });
    for (let waited = 0; waited < 8 && result === undefined; waited += 1) {
      await rig.quiet();
      if (result === undefined) await rig.clock.advance(500);
    }
    acts.push(`connects to ${name}: ${result}`);
    if (chance() < 0.8) client.pump();
  }

  async function die(): Promise<void> {
    const victim = pick(living);
    if (victim === undefined || nextInstance >= NAMES.length) return;
    living = living.filter((name) => name !== victim);
    const newcomer = NAMES[nextInstance++];
    if (newcomer !== undefined) living.push(newcomer);
    const isFenced = chance() < 0.3;
    if (isFenced) {
      instance(victim).service.abandonAll();
      rig.jobs.kill(victim);
    } else rig.kill(victim);
    acts.push(`${victim} ${isFenced ? 'is fenced' : 'dies'}`);
  }

  async function actOfClient(client: MovingClient): Promise<void> {
    const what = chance();
    if (!client.isConnected) return connect(client);
    if (what < 0.35) client.say(word(client));
    else if (what < 0.5) client.end();
    else if (what < 0.6) client.utter(word(client));
    else if (what < 0.7) client.acknowledge();
    else if (what < 0.8) client.leave();
    else return connect(client);
    if (chance() < 0.85) client.pump();
    acts.push(`client ${what.toFixed(2)}`);
  }

  function actOfJob(): void {
    const what = chance();
    const pendingRequest = pick(rig.jobs.pendingRequests);
    const job = pick(rig.jobs.jobs.filter(({ record }) => record?.state === 'DISPATCHED'));
    if (pendingRequest !== undefined && what < 0.1) pendingRequest.admit();
    else if (pendingRequest !== undefined && what < 0.6) pendingRequest.answer();
    else if (job !== undefined && (what < 0.9 || !isRough)) job.finish();
    else if (job !== undefined) job.fail();
    acts.push(`job ${pendingRequest?.text ?? ''} ${job?.text ?? ''} ${what.toFixed(2)}`);
  }

  function actOfFate(): void {
    const name = pick(living) ?? '';
    const what = chance();
    const { store } = instance(name);
    if (what < 0.4) store.plan({ method: 'save', fault: 'throw_after_effect' });
    else if (what < 0.7) store.plan({ fault: 'throw' });
    else if (what < 0.8) store.plan({ method: 'save', fault: { delayMs: 300 } });
    else if (what < 0.9) rig.isolate(name);
    else rig.jobs.setDown(true);
    acts.push(`fate ${name} ${what.toFixed(2)}`);
  }

  function heal(): void {
    rig.jobs.setDown(false);
    for (const name of living) instance(name).store.heal();
  }

  for (const client of clients) await connect(client);
  for (let count = 0; count < ACTS; count += 1) {
    const what = chance();
    const client = pick(clients);
    if (what < 0.45 && client !== undefined) await actOfClient(client);
    else if (what < 0.75) actOfJob();
    else if (what < 0.8) await die();
    else if (isRough && what < 0.83) actOfFate();
    else if (isRough && what < 0.88) heal();
    else {
      const ms = pick(PAUSES) ?? 1;
      acts.push(`${ms} ms pass`);
      await rig.clock.advance(ms);
    }
    await rig.quiet();
  }
  heal();
  await comeToRest(rig, clients, connect);
  for (const client of clients) {
    problems.push(...client.complaints, ...problemsOf(client, said.get(client) ?? [], isRough, rig));
    client.close();
    closed.add(client.sessionId ?? '');
  }
  await rig.quiet();
  await rig.clock.advance(120_000);
  await rig.quiet();
  for (const name of living) {
    const left = { ...instance(name).service.counts(), audio: instance(name).audio.size() };
    for (const [what, count] of Object.entries(left))
      if (count !== 0) problems.push(`${name}: ${count} ${what} left`);
  }
  if (rig.jobs.events.size() > 0) problems.push(`${rig.jobs.events.size()} listeners left`);
  for (const sessionId of closed)
    if ((await rig.store.load(sessionId)) !== undefined) problems.push('a closed session is still saved');
  return { acts, problems };
}

/** All clients resume, all audio is sent, all jobs end. */
async function comeToRest(
  rig: InstancesRig,
  clients: readonly MovingClient[],
  connect: (client: MovingClient) => Promise<void>,
): Promise<void> {
  rig.jobs.answerAll();
  for (let rounds = 0; rounds < 30; rounds += 1) {
    for (const client of clients) {
      if (!client.isConnected) await connect(client);
      client.end();
      client.pump();
    }
    await rig.clock.advance(1_500);
    for (const { record, finish } of rig.jobs.jobs) if (record?.state === 'DISPATCHED') finish();
    await rig.quiet();
    if (clients.every(({ outbox, isConnected }) => isConnected && outbox.isEmpty())) return;
  }
}

function problemsOf(
  client: MovingClient,
  said: readonly string[],
  isRough: boolean,
  rig: InstancesRig,
): string[] {
  const problems: string[] = [];
  const received = client.received.flatMap((one) => one.match(/w\w+\./g) ?? []);
  const missing = client.received.filter((one) => one.includes('!'));
  if (!client.outbox.isEmpty()) problems.push(`${client.outbox.audioBytes()} bytes without outcome`);
  if (!isRough && client.sessions.length > 1) problems.push(`it had ${client.sessions.length} sessions`);
  for (const text of new Set(received)) {
    if (received.filter((one) => one === text).length > 1) problems.push(`${text} was received twice`);
  }
  if (!isRough) {
    if (missing.length > 0) problems.push(`missing: ${missing}`);
    const lost = said.filter((text) => !received.includes(text));
    if (lost.length > 0) problems.push(`never received: ${lost}`);
    const made = rig.jobs.jobs.flatMap(({ text }) => text.match(/w\w+\./g) ?? []);
    const twice = said.filter((text) => made.filter((one) => one === text).length > 1);
    if (twice.length > 0) problems.push(`two jobs of ${twice}`);
  }
  return problems;
}
