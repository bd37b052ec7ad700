/** Plans run their chains in order, share them, and end each part on its own. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { PlanListener, PlanPart, PlanRequest, WantedTarget } from '../../../src/domain/plan.ts';
import { type Chain, chainId } from '../../../src/domain/stage.ts';
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
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const PAIRS = ['en>es', 'en>fr', 'es>pt'];

/** Nodes have single stages: recognition of English, the pairs above, and all voices. */
function canRun({ stages, source, target }: Chain): boolean {
  if (stages.includes('nmt')) return stages.length === 1 && PAIRS.includes(`${source}>${target}`);
  if (stages.includes('tts')) return stages.length === 1;
  return source === 'en' || source === 'auto';
}

const job = (product: string, attempt = 1): JobRecord =>
  ({ jobId: `job-${product}`, state: 'RUNNING', fence: { nodeId: 'node', attempt } }) as JobRecord;

function start(
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

const WANTED = [
  { language: 'es', isVoiceWanted: true },
  { language: 'fr', isVoiceWanted: false },
  { language: 'pt', isVoiceWanted: false },
];

describe('a plan', () => {
  it('starts a chain when its input is there, and not before', async () => {
    const { chain, products, events } = start(WANTED);
    expect(events).toEqual([]);
    await settled();
    expect(products()).toEqual(['source']);
    await chain('source').finish('hello');
    expect(products()).toEqual(['source', 'text:es', 'text:fr']);
    await chain('text:es').finish('hola');
    expect(products().sort()).toEqual(['source', 'text:es', 'text:fr', 'text:pt', 'voice:es']);
    expect(chain('text:pt').text).toMatchObject({ text: 'hola', language: 'es', sourceText: 'hello' });
  });

  it('gives each chain a signal of its own: Node.js takes many listeners of one for a leak', async () => {
    const { plan, chain, started } = start(WANTED);
    await settled();
    await chain('source').finish('hello');
    const signals = new Set(started.map(({ watch }) => watch.signal));
    expect(signals.size).toBe(started.length);
    plan.leave();
    expect([...signals].every(({ aborted }) => aborted)).toBe(true);
  });

  it('reports the recognised text, and each part when it is there', async () => {
    const { chain, events } = start(WANTED);
    await settled();
    await chain('source').finish('hello');
    await chain('text:fr').finish('bonjour');
    await chain('text:es').finish('hola');
    await chain('voice:es').finish('hola');
    await chain('text:pt').finish('olá');
    expect(events.filter((event) => !event.startsWith('moved'))).toEqual([
      'admitted',
      'recognised en hello',
      'fr/text hello|bonjour|',
      'es/text hello|hola|',
      'es/voice hello|hola|AAAA',
      'pt/text hello|olá|',
    ]);
    expect(events).toContain('moved job-source for es/text es/voice fr/text pt/text');
    expect(events).toContain('moved job-text:es for es/text es/voice pt/text');
  });

  it('a failed chain fails what needs it, with its reason, and nothing else', async () => {
    const { chain, products, events } = start(WANTED);
    await settled();
    await chain('source').finish('hello');
    await chain('text:es').fail('MODEL_LOAD_FAILED');
    await chain('text:fr').finish('bonjour');
    const ends = events.filter((event) => /^(es|fr|pt)\//.test(event));
    expect(ends.sort()).toEqual([
      'es/text failed MODEL_LOAD_FAILED: failed: MODEL_LOAD_FAILED',
      'es/voice failed MODEL_LOAD_FAILED: failed: MODEL_LOAD_FAILED',
      'fr/text hello|bonjour|',
      'pt/text failed MODEL_LOAD_FAILED: failed: MODEL_LOAD_FAILED',
    ]);
    expect(products()).not.toContain('text:pt');
  });

  it('silence ends all parts without further jobs', async () => {
    const { chain, products, events } = start(WANTED);
    await settled();
    await chain('source').finish('', { isSilent: true });
    expect(products()).toEqual(['source']);
    expect(events.filter((event) => event.endsWith(' ||'))).toHaveLength(4);
  });

  it('cancelling a language keeps the chains that others need', async () => {
    const { plan, chain, cancelled, products, events } = start(WANTED);
    await settled();
    await chain('source').finish('hello');
    plan.cancel('not heard', 'RESULT_TIMEOUT', { language: 'es', kind: 'text' });
    plan.cancel('not heard', 'RESULT_TIMEOUT', { language: 'es', kind: 'voice' });
    plan.cancel('not heard', 'RESULT_TIMEOUT', { language: 'fr', kind: 'text' });
    expect(cancelled).toEqual(['job-text:fr RESULT_TIMEOUT']);
    await chain('text:es').finish('hola');
    expect(products()).not.toContain('voice:es');
    await chain('text:pt').finish('olá');
    expect(events.filter((event) => /^(es|fr|pt)\//.test(event))).toEqual(['pt/text hello|olá|']);
  });

  it('cancelled as a whole, it cancels its jobs and starts none', async () => {
    const { plan, chain, cancelled, products, events } = start(WANTED);
    await settled();
    plan.cancel('the session ended', 'SESSION_CLOSED');
    expect(cancelled).toEqual(['job-source SESSION_CLOSED']);
    await chain('source').finish('hello');
    expect(products()).toEqual(['source']);
    expect(events.some((event) => /^(es|fr|pt)\//.test(event))).toBe(false);
  });

  it('left, it calls its listener no more, starts nothing and cancels nothing', async () => {
    const { plan, chain, cancelled, products, events } = start(WANTED);
    await settled();
    const before = events.length;
    plan.leave();
    expect(chain('source').watch.signal.aborted).toBe(true);
    await chain('source').finish('hello');
    expect(events).toHaveLength(before);
    expect(products()).toEqual(['source']);
    expect(cancelled).toEqual([]);
  });

  it('with `auto`, plans the rest for the recognised language', async () => {
    const { chain, events } = start(
      [
        { language: 'es', isVoiceWanted: false },
        { language: 'en', isVoiceWanted: false },
      ],
      {
        source: 'auto',
      },
    );
    await settled();
    await chain('source').finish('hello', { language: 'en' });
    await chain('text:es').finish('hola');
    expect(events.filter((event) => /^(es|en)\//.test(event)).sort()).toEqual([
      'en/text hello|hello|',
      'es/text hello|hola|',
    ]);
  });

  it('a language that no node reaches fails with the missing step', async () => {
    const { chain, events } = start([...WANTED, { language: 'ko', isVoiceWanted: true }]);
    await settled();
    await chain('source').finish('hello');
    expect(events.filter((event) => event.startsWith('ko/'))).toEqual([
      'ko/text failed NO_CAPABLE_NODE: no node can translate en to ko, also not in two steps',
      'ko/voice failed NO_CAPABLE_NODE: no node can translate en to ko, also not in two steps',
    ]);
  });

  it('a voice that no node has fails alone', async () => {
    const mute = (chain: Chain) => !chain.stages.includes('tts') && canRun(chain);
    const { chain, events } = start([WANTED[0] as WantedTarget, WANTED[1] as WantedTarget], {}, mute);
    await settled();
    await chain('source').finish('hello');
    await chain('text:es').finish('hola');
    expect(events.filter((event) => event.startsWith('es/'))).toEqual([
      'es/text hello|hola|',
      'es/voice failed NO_CAPABLE_NODE: no node can speak es',
    ]);
  });

  it('typed text needs no recognition', async () => {
    const { chain, products, events } = start([WANTED[1] as WantedTarget, WANTED[2] as WantedTarget], {
      input: { kind: 'text', text: 'hello' },
    });
    await settled();
    expect(products()).toEqual(['text:fr', 'text:es']);
    expect(chain('text:fr').text).toMatchObject({ text: 'hello', sourceText: 'hello' });
    await chain('text:fr').finish('bonjour');
    expect(events.at(-1)).toBe('fr/text hello|bonjour|');
  });

  it('only legacy nodes: one whole job per language, text and voice together', async () => {
    const whole = ({ stages }: Chain) => stages.includes('asr') && stages.includes('nmt');
    const { chain, products, events } = start(
      [WANTED[0] as WantedTarget, WANTED[1] as WantedTarget],
      {},
      whole,
    );
    await settled();
    expect(products()).toEqual(['whole:es', 'caption:fr']);
    await chain('whole:es').finish('hola');
    expect(events.filter((event) => event.startsWith('es/')).map((event) => event.split(' ')[0])).toEqual([
      'es/text',
      'es/voice',
    ]);
  });

  it('a job that lost its only node is done in parts by others', async () => {
    const isWhole = (chain: Chain) => chain.stages.length === 4;
    const parts: Record<string, readonly Chain[]> = {
      'asr+semantic+nmt+tts:en>es': [
        { stages: ['asr', 'semantic'], input: 'audio', source: 'en', target: 'en' },
        { stages: ['nmt', 'tts'], input: 'text', source: 'en', target: 'es' },
      ],
      'nmt+tts:en>es': [
        { stages: ['nmt'], input: 'text', source: 'en', target: 'es' },
        { stages: ['tts'], input: 'text', source: 'es', target: 'es' },
      ],
    };
    const { chain, products, events } = start(
      [WANTED[0] as WantedTarget],
      {},
      isWhole,
      (_, given) => parts[chainId(given)] ?? [],
    );
    await settled();
    await chain('whole:es').fail('NODE_UNAVAILABLE');
    await chain('source').finish('hello');
    await chain('spoken:es').fail('NO_CAPABLE_NODE');
    await chain('text:es').finish('hola');
    await chain('voice:es').finish('hola');
    expect(events.filter((event) => event.startsWith('es/'))).toEqual([
      'es/text hello|hola|',
      'es/voice hello|hola|AAAA',
    ]);
    expect(products()).toEqual(['whole:es', 'source', 'spoken:es', 'text:es', 'voice:es']);
  });

  it.each([
    ['PROCESSING_ERROR', 1],
    ['NODE_UNAVAILABLE', 2],
  ])('a job that failed with %s at attempt %i is not cut', async (code, attempt) => {
    const { chain, products, events } = start(
      [WANTED[0] as WantedTarget],
      {},
      ({ stages }) => stages.length === 4,
      () => [{ stages: ['asr', 'semantic'], input: 'audio', source: 'en', target: 'en' }],
    );
    await settled();
    await chain('whole:es').fail(code, attempt);
    expect(products()).toEqual(['whole:es']);
    expect(events.filter((event) => event.startsWith('es/'))).toHaveLength(2);
  });

  it('chains have different ids and products', () => {
    const spoken: Chain = { stages: ['nmt'], input: 'text', source: 'es', target: 'pt' };
    expect(chainId(spoken)).toBe('nmt:es>pt');
    expect(productOf(spoken)).toBe('text:pt');
  });
});
