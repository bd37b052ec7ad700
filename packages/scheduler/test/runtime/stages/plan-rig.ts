/** Runs plans whose chains the test ends, and notes what the caller is told. */
import type { JobRecord } from '../../../src/domain/job.ts';
import type { PlanListener, PlanPart, PlanRequest, WantedTarget } from '../../../src/domain/plan.ts';
import type { Chain } from '../../../src/domain/stage.ts';
import { productOf } from '../../../src/runtime/stages/chain-job.ts';
import type {
  ChainJobs,
  ChainOutcome,
  ChainText,
  ChainWatch,
} from '../../../src/runtime/stages/chain-jobs.ts';
import type { ChainSplitter } from '../../../src/runtime/stages/fleet-plan.ts';
import { planStages } from '../../../src/runtime/stages/plan-stages.ts';
import { createPlanRunner } from '../../../src/runtime/stages/run-plan.ts';

interface Started {
  readonly product: string;
  readonly text: ChainText | undefined;
  readonly watch: ChainWatch;
  finish(text: string, more?: { language?: string; isSilent?: boolean }): Promise<void>;
  fail(code: string, attempt?: number): Promise<void>;
  /** Its texts are final, and its voice is being made. */
  tell(source: string, translated: string): Promise<void>;
}

export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const PAIRS = ['en>es', 'en>fr', 'es>pt'];

/** Nodes have single stages: recognition of English, the pairs above, and all voices. */
export function canRun({ stages, source, target }: Chain): boolean {
  if (stages.includes('nmt')) return stages.length === 1 && PAIRS.includes(`${source}>${target}`);
  if (stages.includes('tts')) return stages.length === 1;
  return source === 'en' || source === 'auto';
}

const job = (product: string, attempt = 1): JobRecord =>
  ({ jobId: `job-${product}`, state: 'RUNNING', fence: { nodeId: 'node', attempt } }) as JobRecord;

export function startPlan(
  wanted: readonly WantedTarget[],
  more: Partial<PlanRequest> = {},
  can = canRun,
  split?: ChainSplitter,
) {
  const started: Started[] = [];
  const events: string[] = [];
  const cancelled: string[] = [];
  const jobs: ChainJobs = {
    run: (chain, request, text, watch) =>
      new Promise((resolve) => {
        const product = productOf(chain);
        const end = async (outcome: ChainOutcome) => {
          resolve(outcome);
          await settled();
        };
        watch.moved(job(product));
        started.push({
          product,
          text,
          watch,
          finish(own, { language, isSilent = false } = {}) {
            const sourceText = text?.sourceText ?? own;
            const sourceLanguage = language ?? text?.sourceLanguage ?? request.source;
            return end({
              kind: 'finished',
              text: { text: own, language: language ?? chain.target, sourceText, sourceLanguage },
              result: {
                textAsr: '',
                textTranslated: own,
                ttsAudio: product.startsWith('voice') ? 'AAAA' : '',
                ttsFormat: '',
              },
              job: job(product),
              isSilent,
            });
          },
          async tell(source, translated) {
            watch.told({
              kind: 'finished',
              text: {
                text: translated,
                language: chain.target,
                sourceText: source,
                sourceLanguage: request.source,
              },
              result: { textAsr: source, textTranslated: translated, ttsAudio: '', ttsFormat: '' },
              job: job(product),
              isSilent: false,
            });
            await settled();
          },
          fail: (code, attempt = 1) =>
            end({ kind: 'failed', code, message: `failed: ${code}`, job: job(product, attempt) }),
        });
      }),
    cancel: (jobId, _reason, code) => void cancelled.push(`${jobId} ${code}`),
  };
  const name = ({ language, kind }: PlanPart) => `${language}/${kind}`;
  const listener: PlanListener = {
    admitted: () => events.push('admitted'),
    recognised: (text, language) => events.push(`recognised ${language} ${text}`),
    moved: (parts, { jobId }) => events.push(`moved ${jobId} for ${parts.map(name).join(' ')}`),
    settled(part, outcome) {
      const end =
        outcome.kind === 'failed'
          ? `failed ${outcome.code}: ${outcome.message}`
          : `${outcome.result.textAsr}|${outcome.result.textTranslated}|${outcome.result.ttsAudio}`;
      events.push(`${name(part)} ${end}`);
    },
  };
  const request = {
    tenantId: 't',
    sessionId: 's',
    name: 'n',
    fingerprint: 'f',
    input: { kind: 'audio', source: { kind: 'held', bytes: 1 }, audio: Buffer.from('x') },
    source: 'en',
    wanted,
    spec: {},
    need: { needsPublicNode: true },
    deadlineAt: 1,
    waitMs: 1,
    ...more,
  } as PlanRequest;
  const plan = createPlanRunner({
    jobs,
    plan: (given, text) =>
      planStages({
        input: text === undefined ? given.input.kind : 'text',
        source: text?.language ?? given.source,
        wanted: given.wanted,
        canRun: can,
        pivots: ['es'],
      }),
    split,
  }).run(request, listener);
  const chain = (product: string): Started => {
    const found = started.find((one) => one.product === product);
    if (found === undefined)
      throw new Error(`${product} was not started: ${started.map((one) => one.product)}`);
    return found;
  };
  return { plan, started, events, cancelled, chain, products: () => started.map(({ product }) => product) };
}
