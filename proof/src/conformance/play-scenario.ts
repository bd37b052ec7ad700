/** Plays one scenario with one program, and says at which step the program did something else. */
import { findMismatch } from './match.ts';
import type { NodeConfig, NodeProgram, StartProgram } from './node-program.ts';
import type { Scenario, Step, StepKind } from './scenario.ts';
import {
  type Message,
  type Received,
  type ScriptedScheduler,
  type Served,
  startScriptedScheduler,
  type Tampering,
  type UpgradeRefusal,
} from './scripted-scheduler.ts';
import { createWaiting, type Waiting } from './wait-for.ts';

export type Verdict =
  | { readonly kind: 'passed' }
  /** The node announces none of the extensions that the scenario is about. */
  | { readonly kind: 'not_announced'; readonly needs: readonly string[] }
  | { readonly kind: 'failed'; readonly at: string; readonly why: string; readonly lastWords: string };

export interface PlayOptions {
  readonly start: StartProgram;
  /** How long a step waits for the program. */
  readonly patienceMs: number;
  readonly tampering?: Tampering;
}

/** Sent at any time, so that they are only looked at by `beat`. */
const IN_BETWEEN = new Set(['node_heartbeat', 'job_started']);

class StepFailure extends Error {}
class NotAnnounced extends Error {}

interface Stage {
  readonly scheduler: ScriptedScheduler;
  readonly waiting: Waiting;
  readonly program: () => NodeProgram;
  start(config: Partial<NodeConfig>): void;
  readonly needs: readonly string[];
  /** Events that a step has taken. */
  seenEvents: number;
  jobs: number;
}

export async function playScenario(scenario: Scenario, options: PlayOptions): Promise<Verdict> {
  const waiting = createWaiting(options.patienceMs, () => options.tampering?.isOver?.() === true);
  const scheduler = await startScriptedScheduler(waiting.changed, options.tampering);
  let program: NodeProgram | undefined;
  const stage: Stage = {
    scheduler,
    waiting,
    needs: scenario.needs,
    seenEvents: 0,
    jobs: 0,
    program() {
      if (program === undefined) throw new StepFailure('the scenario has not started the program yet');
      return program;
    },
    start(config) {
      program = options.start(configOf(scheduler, config), waiting.changed);
    },
  };
  let at = '';
  try {
    for (const step of scenario.steps) {
      at = step.at;
      await PLAY[step.kind](stage, resolved(step, scheduler));
      checkFrames(scheduler);
    }
    at = 'the end';
    await quiet(stage);
    return { kind: 'passed' };
  } catch (error) {
    if (error instanceof NotAnnounced) return { kind: 'not_announced', needs: scenario.needs };
    if (!(error instanceof StepFailure)) throw error;
    return { kind: 'failed', at, why: error.message, lastWords: program?.lastWords() ?? '' };
  } finally {
    await program?.end();
    await scheduler.stopListening().catch(() => {});
  }
}

const configOf = (scheduler: ScriptedScheduler, config: Partial<NodeConfig>): NodeConfig => ({
  url: scheduler.url(),
  max_concurrent_jobs: 2,
  capabilities: {},
  supports: [],
  ...config,
  timings: { first_retry_ms: 5, longest_retry_ms: 50, ...config.timings },
});

/** `{"$now": 100}` is the time in 100 ms, BASE the address of the scheduler. */
function resolved({ value }: Step, scheduler: ScriptedScheduler): unknown {
  return JSON.parse(JSON.stringify(value), (_, inner: unknown) => {
    if (typeof inner === 'string') return inner.replace(/^BASE/, scheduler.httpUrl());
    const now = Object(inner).$now as unknown;
    return typeof now === 'number' ? Date.now() + now : inner;
  });
}

function checkFrames({ invalid }: ScriptedScheduler): void {
  if (invalid[0] !== undefined)
    throw new StepFailure(`the node sent what no scheduler accepts: ${invalid[0]}`);
}

const isForeground = ({ message }: Received): boolean => !IN_BETWEEN.has(message.type);

/** A result that was sent before may come again on a later connection: the node cannot know that it arrived. */
const isRepeat = ({ message, connection }: Received, before: readonly Received[]): boolean =>
  message.type === 'job_result' &&
  before.some(
    (other) =>
      other.isTaken &&
      other.connection < connection &&
      other.message.type === 'job_result' &&
      other.message.job_id === message.job_id &&
      other.message.attempt_id === message.attempt_id,
  );

const untaken = ({ received }: ScriptedScheduler): Received[] =>
  received.filter((each) => !each.isTaken && isForeground(each) && !isRepeat(each, received));

const brief = (message: Message): string => JSON.stringify(message).slice(0, 400);

async function nextMessage({ scheduler, waiting, program }: Stage, wanted: string): Promise<Received> {
  const next = await waiting.until(() => {
    checkFrames(scheduler);
    return untaken(scheduler)[0];
  });
  if (next === undefined)
    throw new StepFailure(
      `no message came; expected ${wanted}${program().hasEnded() ? '; the program has ended' : ''}`,
    );
  next.isTaken = true;
  return next;
}

async function expectMessage(stage: Stage, pattern: unknown): Promise<Received> {
  const next = await nextMessage(stage, JSON.stringify(pattern));
  const mismatch = findMismatch(pattern, next.message);
  if (mismatch !== undefined) throw new StepFailure(`${mismatch}; the node sent ${brief(next.message)}`);
  return next;
}

async function quiet({ scheduler, waiting }: Stage): Promise<void> {
  let isAnswered: boolean | undefined;
  void scheduler.barrier().then((answered) => {
    isAnswered = answered;
    waiting.changed();
  });
  await waiting.until(() => isAnswered);
  checkFrames(scheduler);
  const [unexpected] = untaken(scheduler);
  if (unexpected !== undefined)
    throw new StepFailure(`the node sent more than expected: ${brief(unexpected.message)}`);
}

async function require(stage: Stage, holds: () => boolean, otherwise: () => string): Promise<void> {
  const isMet = await stage.waiting.until(() => holds() || undefined);
  if (isMet === undefined) throw new StepFailure(otherwise());
}

const fieldsOf = (value: unknown): Record<string, unknown> => Object(value) as Record<string, unknown>;

const PLAY: Readonly<Record<StepKind, (stage: Stage, value: unknown) => Promise<void> | void>> = {
  start: (stage, value) => stage.start(fieldsOf(value) as Partial<NodeConfig>),

  async admit(stage, value) {
    const { register = {}, ack = {} } = fieldsOf(value) as { register?: object; ack?: object };
    const { message } = await expectMessage(stage, { type: 'node_register', ...register });
    const supports = (message.supports ?? []) as string[];
    if (!stage.needs.every((need) => supports.includes(need))) throw new NotAnnounced();
    const answer = {
      type: 'node_register_ack',
      node_id: message.node_id ?? 'node-given',
      message: 'welcome',
      status: 'registering',
      heartbeat_interval_ms: 60_000,
      ...ack,
    };
    stage.scheduler.send(JSON.stringify(answer));
  },

  async expect(stage, pattern) {
    await expectMessage(stage, pattern);
  },

  async expect_among(stage, value) {
    const patterns = [...(value as unknown[])];
    while (patterns.length > 0) {
      const { message } = await nextMessage(stage, `one of ${JSON.stringify(patterns)}`);
      const found = patterns.findIndex((pattern) => findMismatch(pattern, message) === undefined);
      if (found < 0) throw new StepFailure(`none of ${JSON.stringify(patterns)} is ${brief(message)}`);
      patterns.splice(found, 1);
    }
  },

  /** Passes over heartbeats that do not match: a node may send one at any time. */
  async beat(stage, pattern) {
    const { scheduler, waiting } = stage;
    let last = 'none came';
    const matching = await waiting.until(() =>
      scheduler.received.find((each) => {
        if (each.isTaken || each.message.type !== 'node_heartbeat') return false;
        each.isTaken = true;
        const mismatch = findMismatch(pattern, each.message);
        last = `${mismatch ?? ''}; the last one was ${brief(each.message)}`;
        return mismatch === undefined;
      }),
    );
    if (matching === undefined) throw new StepFailure(`no heartbeat as expected: ${last}`);
  },

  async beats(stage, count) {
    for (let beats = 0; beats < Number(count); beats += 1) await PLAY.beat(stage, {});
  },

  authorization(stage, wanted) {
    const got = stage.scheduler.authorizations.at(-1);
    if (got !== wanted)
      throw new StepFailure(`the header Authorization must be "${wanted}", and is "${got}"`);
  },

  assign(stage, value) {
    stage.jobs += 1;
    stage.scheduler.send(JSON.stringify(jobAssign(stage.jobs, fieldsOf(value))));
  },
  send: (stage, value) => stage.scheduler.send(JSON.stringify(value)),
  send_text: (stage, value) => stage.scheduler.send(String(value)),
  open: (stage, gate) => stage.program().tell({ open: gate }),
  tell: (stage, order) => stage.program().tell(fieldsOf(order)),

  async event(stage, pattern) {
    const { events, hasEnded } = stage.program();
    const matching = (): number =>
      events.findIndex(
        (event, at) => at >= stage.seenEvents && findMismatch(pattern, event, 'the event') === undefined,
      );
    // A program that has ended prints nothing more.
    await stage.waiting.until(() => matching() >= 0 || hasEnded() || undefined);
    const found = matching();
    const printed = (): string =>
      JSON.stringify(stage.program().events.slice(stage.seenEvents)).slice(0, 600);
    if (found < 0)
      throw new StepFailure(`the program did not print ${JSON.stringify(pattern)}; it printed ${printed()}`);
    stage.seenEvents = found + 1;
  },

  close(stage, value) {
    const { code, reason = '' } = fieldsOf(value);
    stage.scheduler.close(Number(code), String(reason));
  },
  cut: (stage) => stage.scheduler.cut(),
  freeze: (stage) => stage.scheduler.freeze(),
  listen: (stage, isWanted) =>
    isWanted === true ? stage.scheduler.listen() : stage.scheduler.stopListening(),

  disconnected: (stage, code) =>
    require(stage, () => stage.scheduler.closeCode() === code, () =>
      stage.scheduler.closeCode() === undefined
        ? 'the node did not close the connection'
        : `the node closed with ${stage.scheduler.closeCode()} instead of ${code}`),

  refuse_upgrade: (stage, value) =>
    stage.scheduler.refuseUpgrades(fieldsOf(value) as unknown as UpgradeRefusal),
  serve: (stage, value) => stage.scheduler.serve(fieldsOf(value) as unknown as Served),

  async fetched(stage, value) {
    const { path, times, authorization } = fieldsOf(value);
    const requests = () => stage.scheduler.fetched.filter((each) => each.path === path);
    await require(stage, () => requests().length >= Number(times), () =>
      `${path} was fetched ${requests().length} times instead of ${times}`);
    if (requests().length !== times)
      throw new StepFailure(`${path} was fetched ${requests().length} times instead of ${times}`);
    const wrong = requests().find((request) => request.authorization !== authorization);
    if (authorization !== undefined && wrong !== undefined)
      throw new StepFailure(
        `${path} was fetched with "${wrong.authorization}" instead of "${authorization}"`,
      );
  },

  quiet,

  exit: (stage) => require(stage, () => stage.program().hasEnded(), () => 'the program did not end'),
};

/** The instructions for the handler of the job are `do`, sent as its context_text. */
function jobAssign(number: number, { do: instructions, ...fields }: Record<string, unknown>): object {
  return {
    type: 'job_assign',
    job_id: `job-${number}`,
    attempt_id: 1,
    session_id: 's-1',
    utterance_index: number,
    src_lang: 'en',
    tgt_lang: 'de',
    pipeline: { use_asr: true, use_nmt: true, use_tts: true },
    audio: Buffer.from('hello').toString('base64'),
    audio_format: 'pcm16',
    sample_rate: 16_000,
    trace_id: 'trace-1',
    is_manual_cut: true,
    ...(instructions !== undefined && { context_text: JSON.stringify(instructions) }),
    ...fields,
  };
}
