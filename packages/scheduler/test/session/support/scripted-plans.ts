/** A plan runner that a test controls: it records every plan, and the test settles its parts. */
import type { JobRecord } from '../../../src/domain/job.ts';
import type { JobResult } from '../../../src/domain/job-spec.ts';
import type { PartKind, PlanListener, PlanPart, PlanRequest, PlanRunner } from '../../../src/domain/plan.ts';

export interface ScriptedPlan {
  readonly request: PlanRequest;
  /** Its audio as text. */
  readonly text: string;
  readonly isLeft: boolean;
  readonly cancelled: readonly string[];
  admit(): void;
  recognise(): void;
  /** A job for these parts was handed to a node. */
  place(...parts: PlanPart[]): void;
  finish(language: string, kind?: PartKind): void;
  fail(language: string, kind?: PartKind, code?: string): void;
  /** The node recognised nothing. */
  silence(language: string, kind: PartKind): void;
}

export interface ScriptedPlans extends PlanRunner {
  readonly plans: readonly ScriptedPlan[];
  /** The newest, or the newest with this audio. */
  plan(text?: string): ScriptedPlan;
}

export function createScriptedPlans(): ScriptedPlans {
  const plans: ScriptedPlan[] = [];
  return {
    plans,
    plan(text) {
      const found = plans.findLast((one) => text === undefined || one.text === text);
      if (found === undefined) throw new Error(`there is no plan for ${text ?? 'anything'}`);
      return found;
    },
    run(request, listener) {
      const state = { isLeft: false, cancelled: [] as string[] };
      const plan = scripted(request, listener, state);
      plans.push(plan);
      return {
        cancel(_reason, code, part) {
          state.cancelled.push(part === undefined ? code : `${code} ${part.language}/${part.kind}`);
        },
        leave() {
          state.isLeft = true;
        },
      };
    },
  };
}

function scripted(
  request: PlanRequest,
  listener: PlanListener,
  state: { isLeft: boolean; cancelled: readonly string[] },
): ScriptedPlan {
  const { input } = request;
  const text = input.kind === 'text' ? input.text : (input.audio?.toString() ?? '');
  const jobOf = (product: string): JobRecord => ({
    jobId: `job-${request.name}/${product}`,
    tenantId: request.tenantId,
    sessionId: request.sessionId,
    requestId: `~${request.name}/${product}`,
    spec: {
      ...request.spec,
      sourceLanguage: 'en',
      targetLanguage: 'es',
      pipeline: NO_PIPELINE,
      audio: NO_AUDIO,
    },
    state: 'DISPATCHED',
    fence: { nodeId: 'node-1', attempt: 1 },
    createdAt: 0,
    deadlineAt: request.deadlineAt,
    timeline: [],
  });
  const settle = (language: string, kind: PartKind, result: JobResult): void => {
    const job: JobRecord = { ...jobOf(`${kind}:${language}`), state: 'RELEASED', result };
    listener.settled({ language, kind }, { kind: 'result', result, job });
  };
  return {
    request,
    text,
    get isLeft() {
      return state.isLeft;
    },
    get cancelled() {
      return state.cancelled;
    },
    admit: () => listener.admitted(),
    recognise: () => listener.recognised(text, request.source),
    place: (...parts) => listener.moved(parts, jobOf('source')),
    finish(language, kind = 'text') {
      const spoken = kind === 'voice' ? 'AAAA' : '';
      const textTranslated = `<${text} ${language}>`;
      settle(language, kind, { textAsr: text, textTranslated, ttsAudio: spoken, ttsFormat: 'pcm16' });
    },
    fail: (language, kind = 'text', code = 'PROCESSING_ERROR') =>
      listener.settled({ language, kind }, { kind: 'failed', code, message: `failed: ${code}` }),
    silence: (language, kind) =>
      settle(language, kind, {
        textAsr: '',
        textTranslated: '',
        ttsAudio: '',
        ttsFormat: '',
        extra: { reason: 'ASR_EMPTY' },
      }),
  };
}

const NO_AUDIO = { kind: 'none' } as const;
const NO_PIPELINE = { use_asr: false, use_nmt: true, use_tts: false, use_semantic: false, use_tone: false };
