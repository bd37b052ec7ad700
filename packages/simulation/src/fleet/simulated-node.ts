/**
 * Simulation: one process of a GPU node, either as the SDK makes it or a legacy node. It speaks the protocol over the simulated
 * network and records what it receives and does: the checker knows nothing else of it.
 */
import type { JobAssign, SchedulerToNode } from '@lingua/protocol';
import {
  simulatedCapabilities,
  simulatedResources,
} from '../../../scheduler/dist/cli/simulated-node/simulated-capabilities.js';
import type { Stage } from '../../../scheduler/dist/domain/stage.js';
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import type { Cancel } from '../../../scheduler/dist/ports/clock.js';
import type { Recorder } from '../history.ts';
import type { WireEnd } from '../net/wire.ts';
import { hear } from '../speech.ts';
import { chainOf, perform, readStamped } from '../stamped-text.ts';
import type { Manner, Temper } from './temper.ts';

export interface SimulatedNode {
  readonly machine: Machine;
  /** Absent: whole jobs only. */
  readonly stages: readonly Stage[] | undefined;
  /** While this is set, it finishes no job. */
  pauseWork(isPaused: boolean): void;
}

export interface NodeWorld {
  readonly recorder: Recorder;
  /** Opens a connection to one of the instances. */
  dial(machine: Machine, opened: (end?: WireEnd) => void): void;
  /** Fetches audio that is not in the message. */
  fetch(machine: Machine, url: string): Promise<Buffer | undefined>;
}

export interface NodeIdentity {
  readonly nodeId: string;
  readonly slots: number;
  readonly style: 'sdk' | 'legacy';
  readonly languages: readonly string[];
  /** Takes jobs of some stages, and text as input, with these; absent: it takes whole jobs only. */
  readonly stages?: readonly Stage[] | undefined;
  /** It translates from and into English only: other pairs need a pivot. */
  readonly isThroughEnglish?: boolean | undefined;
  /** The strict pool it belongs to. A service that only the nodes of the pool have makes it a member. */
  readonly pool?: { readonly name: string; readonly service: string } | undefined;
}

interface Job {
  readonly assign: JobAssign;
  readonly manner: Manner;
  isReady: boolean;
  cancel: Cancel;
}

const SDK_EXTENSIONS = ['job_ack', 'audio_ref', 'drain', 'cancel_ack'];
const WITH_STAGES = [...SDK_EXTENSIONS, 'text_input', 'stage_results'];
/** When the texts of a job are known, as a share of its time; the voice takes the rest. */
const TEXTS_AT = 0.6;
const RECONNECT_MS = { sdk: [50, 600], legacy: [5_000, 5_200] } as const;
const BEAT_MS = 5_000;
/** Later than a driver waits for an acknowledgement. */
const LATE_MS = [3_050, 4_200] as const;
const MOST_REMEMBERED = 8;

export function startSimulatedNode(deps: {
  readonly machine: Machine;
  readonly identity: NodeIdentity;
  readonly world: NodeWorld;
  readonly temper: Temper;
  readonly chance: () => number;
}): SimulatedNode {
  const { machine, identity, world, chance } = deps;
  const { slots, style } = identity;
  const { clock, name: node } = machine;
  const { record } = world.recorder;
  const isSdk = style === 'sdk';
  const capabilities = capabilitiesOf(identity);
  const running = new Map<string, Job>();
  /** Results that could not be sent yet. */
  let unsent: string[] = [];
  const past: string[] = [];
  let nodeId = isSdk ? identity.nodeId : undefined;
  let end: WireEnd | undefined;
  let isRegistered = false;
  let cancelBeat: Cancel = () => {};
  let isPaused = false;

  const between = ([from, to]: readonly [number, number]): number => from + chance() * (to - from);
  const send = (message: object): boolean => end?.send(JSON.stringify(message)) === true;

  function dial(): void {
    world.dial(machine, (opened) => {
      if (opened === undefined) {
        clock.after(between(RECONNECT_MS[style]), dial);
        return;
      }
      end = opened;
      opened.listen({ text: receive, closed: lost });
      send({
        type: 'node_register',
        ...capabilities,
        ...(nodeId !== undefined && { node_id: nodeId }),
        ...(isSdk && {
          max_concurrent_jobs: slots,
          supports: identity.stages === undefined ? SDK_EXTENSIONS : WITH_STAGES,
          running_job_ids: [...running.keys()],
        }),
      });
    });
  }

  function lost(): void {
    end = undefined;
    isRegistered = false;
    cancelBeat();
    clock.after(between(RECONNECT_MS[style]), dial);
  }

  function beat(everyMs: number): void {
    send({
      type: 'node_heartbeat',
      node_id: nodeId,
      timestamp: clock.now(),
      resource_usage: simulatedResources(running.size, slots),
      ...(isSdk && { running_job_ids: [...running.keys()] }),
    });
    cancelBeat = clock.after(everyMs, () => beat(everyMs));
  }

  function receive(text: string): void {
    const message = JSON.parse(text) as SchedulerToNode;
    if (message.type === 'node_register_ack') {
      nodeId = message.node_id;
      if (!isRegistered) beat(message.heartbeat_interval_ms ?? BEAT_MS);
      isRegistered = true;
      const waiting = unsent;
      unsent = [];
      for (const result of waiting) say(result);
    } else if (message.type === 'job_assign') void assigned(message);
    else if (message.type === 'job_cancel') cancelled(message.job_id);
    else if (message.type === 'node_control' && message.command === 'reconnect') {
      end?.close(1000, 'reconnect');
      lost();
    }
  }

  async function assigned(assign: JobAssign): Promise<void> {
    const { job_id: job, attempt_id: attempt } = assign;
    const run = { node, job, attempt };
    record({ kind: 'assigned', ...run, ...(end !== undefined && { instance: end.peer.name }) });
    // The node has the job already: an SDK node ignores the repeat, a legacy node refuses it.
    if (running.has(job)) return;
    if (running.size >= slots) {
      record({ kind: 'turned_away', ...run });
      say(
        resultOf(assign, {
          error: { code: 'NODE_OVERLOADED', message: 'full', details: { running: running.size, max: slots } },
        }),
      );
      return;
    }
    const manner = deps.temper();
    if (manner.acknowledges === 'silent') return;
    const work: Job = { assign, manner, isReady: false, cancel: () => {} };
    record({ kind: 'started', ...run });
    running.set(job, work);
    if (isSdk) acknowledge(work);
    const text = await inputOf(assign);
    if (running.get(job) !== work) return;
    if (text !== undefined) {
      noteUnderstood(work, text);
      clock.after(TEXTS_AT * manner.workMs, () => tellTexts(work, text));
    }
    work.cancel = clock.after(manner.workMs + (manner.acknowledges === 'late' ? LATE_MS[1] : 0), () => {
      work.isReady = true;
      if (!isPaused) finish(work, text);
    });
  }

  function acknowledge({ assign, manner }: Job): void {
    const { job_id, attempt_id, session_id, trace_id } = assign;
    const ack = { type: 'job_ack', job_id, attempt_id, node_id: nodeId, session_id, trace_id };
    const say = (): void => {
      record({ kind: 'acknowledged', node, job: job_id, attempt: attempt_id });
      send(ack);
    };
    if (manner.acknowledges === 'soon') say();
    else clock.after(between(LATE_MS), say);
  }

  function noteUnderstood({ assign }: Job, text: string): void {
    const { job_id: job, attempt_id: attempt } = assign;
    const { stages, from, to } = chainOf(assign);
    const { words } = readStamped(text);
    record({ kind: 'understood', node, job, attempt, words, stages: stages.join('+'), from, to });
  }

  /** Of a job with a voice. Its result has the same texts. */
  function tellTexts(work: Job, text: string): void {
    const { job_id, attempt_id, session_id, trace_id } = work.assign;
    const chain = chainOf(work.assign);
    const hasMore = chain.stages.length > 1 && chain.stages.includes('tts');
    if (identity.stages === undefined || !hasMore || running.get(job_id) !== work) return;
    const run = { node, job: job_id, attempt: attempt_id };
    record({ kind: 'told', ...run });
    const { text_asr, text_translated } = perform(text, chain, run);
    const about = { job_id, attempt_id, node_id: nodeId, session_id, trace_id };
    send({ type: 'job_text', ...about, text_asr, text_translated });
  }

  async function inputOf({ input_text: text, audio, audio_ref: at }: JobAssign): Promise<string | undefined> {
    if (text !== undefined) return text;
    if (at === undefined) return hear(Buffer.from(audio ?? '', 'base64'));
    const fetched = await world.fetch(machine, at.url);
    return fetched && hear(fetched);
  }

  function finish({ assign, manner }: Job, text: string | undefined): void {
    const { job_id: job, attempt_id: attempt } = assign;
    running.delete(job);
    const run = { node, job, attempt };
    const hasFailed = manner.isClumsy || manner.lacksModel || text === undefined;
    record({ kind: 'ended', how: hasFailed ? 'failed' : 'done', ...run });
    const result = resultOf(
      assign,
      hasFailed ? { error: failureOf(manner) } : perform(text, chainOf(assign), run),
    );
    say(result);
    if (manner.isRepeated) say(result);
    const [earlier] = past;
    if (manner.isLying && earlier !== undefined) say(earlier.replace(/"attempt_id":(\d+)/, lie));
    past.push(result);
    if (past.length > MOST_REMEMBERED) past.shift();
  }

  function resultOf(assign: JobAssign, fields: object): string {
    const { job_id, attempt_id, session_id, utterance_index, trace_id } = assign;
    const success = !('error' in fields);
    const about = { job_id, attempt_id, node_id: nodeId, session_id, utterance_index, trace_id };
    return JSON.stringify({ type: 'job_result', ...about, success, ...fields });
  }

  function say(result: string): void {
    if (isRegistered && end?.send(result) === true) return;
    // Legacy nodes drop results that they cannot send.
    if (isSdk) unsent.push(result);
  }

  function cancelled(job: string): void {
    record({ kind: 'cancel_received', node, job });
    const work = running.get(job);
    if (work === undefined || !isSdk) return;
    work.cancel();
    running.delete(job);
    record({ kind: 'ended', how: 'cancelled', node, job, attempt: work.assign.attempt_id });
    say(resultOf(work.assign, { error: { code: 'JOB_CANCELLED', message: 'cancelled' } }));
  }

  record({
    kind: 'node_up',
    node,
    slots,
    style,
    acknowledges: isSdk,
    ...(identity.pool !== undefined && { pool: identity.pool.name }),
    ...(identity.stages !== undefined && { stages: identity.stages.join('+') }),
  });
  dial();

  return {
    machine,
    stages: identity.stages,
    pauseWork(paused) {
      isPaused = paused;
      if (paused) return;
      for (const work of [...running.values()]) {
        if (work.isReady) void inputOf(work.assign).then((text) => finish(work, text));
      }
    },
  };
}

function capabilitiesOf({ languages, style, stages, isThroughEnglish, pool }: NodeIdentity) {
  const all = simulatedCapabilities(languages, style === 'legacy', stages);
  const usual = isThroughEnglish === true ? { ...all, language_capabilities: throughEnglish(all) } : all;
  if (pool === undefined) return usual;
  const own = {
    service_id: pool.service,
    version: '1',
    type: 'other',
    device: 'gpu',
    status: 'running',
  } as const;
  return { ...usual, installed_services: [...(usual.installed_services ?? []), own] };
}

const throughEnglish = ({ language_capabilities: all }: ReturnType<typeof simulatedCapabilities>) => ({
  ...all,
  nmt_capabilities: all?.nmt_capabilities?.flatMap((model) =>
    (['any_to_en', 'en_to_any'] as const).map((rule) => ({ ...model, rule })),
  ),
});

const failureOf = ({ lacksModel }: Manner): object =>
  lacksModel
    ? {
        code: 'MODEL_NOT_AVAILABLE',
        message: 'no such model',
        details: { service_id: 'simulated-tts', service_version: '1.0.0', reason: 'missing' },
      }
    : { code: 'PROCESSING_ERROR', message: 'the node is clumsy' };

const lie = (_: string, attempt: string): string => `"attempt_id":${Number(attempt) + 1}`;
