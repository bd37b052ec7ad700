/** Plans run their chains in order, share them, and end each part on its own. */
import { describe, expect, it } from 'vitest';
import type { WantedTarget } from '../../../src/domain/plan.ts';
import { type Chain, chainId } from '../../../src/domain/stage.ts';
import { productOf } from '../../../src/runtime/stages/chain-job.ts';
import { canRun, settled, startPlan } from './plan-rig.ts';

const WANTED = [
  { language: 'es', isVoiceWanted: true },
  { language: 'fr', isVoiceWanted: false },
  { language: 'pt', isVoiceWanted: false },
];

describe('a plan', () => {
  it('starts a chain when its input is there, and not before', async () => {
    const { chain, products, events } = startPlan(WANTED);
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
    const { plan, chain, started } = startPlan(WANTED);
    await settled();
    await chain('source').finish('hello');
    const signals = new Set(started.map(({ watch }) => watch.signal));
    expect(signals.size).toBe(started.length);
    plan.leave();
    expect([...signals].every(({ aborted }) => aborted)).toBe(true);
  });

  it('reports the recognised text, and each part when it is there', async () => {
    const { chain, events } = startPlan(WANTED);
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
    const { chain, products, events } = startPlan(WANTED);
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
    const { chain, products, events } = startPlan(WANTED);
    await settled();
    await chain('source').finish('', { isSilent: true });
    expect(products()).toEqual(['source']);
    expect(events.filter((event) => event.endsWith(' ||'))).toHaveLength(4);
  });

  it('cancelling a language keeps the chains that others need', async () => {
    const { plan, chain, cancelled, products, events } = startPlan(WANTED);
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
    const { plan, chain, cancelled, products, events } = startPlan(WANTED);
    await settled();
    plan.cancel('the session ended', 'SESSION_CLOSED');
    expect(cancelled).toEqual(['job-source SESSION_CLOSED']);
    await chain('source').finish('hello');
    expect(products()).toEqual(['source']);
    expect(events.some((event) => /^(es|fr|pt)\//.test(event))).toBe(false);
  });

  it('left, it calls its listener no more, starts nothing and cancels nothing', async () => {
    const { plan, chain, cancelled, products, events } = startPlan(WANTED);
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
    const { chain, events } = startPlan(
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
    const { chain, events } = startPlan([...WANTED, { language: 'ko', isVoiceWanted: true }]);
    await settled();
    await chain('source').finish('hello');
    expect(events.filter((event) => event.startsWith('ko/'))).toEqual([
      'ko/text failed NO_CAPABLE_NODE: no node can translate en to ko, also not in two steps',
      'ko/voice failed NO_CAPABLE_NODE: no node can translate en to ko, also not in two steps',
    ]);
  });

  it('a voice that no node has fails alone', async () => {
    const mute = (chain: Chain) => !chain.stages.includes('tts') && canRun(chain);
    const { chain, events } = startPlan([WANTED[0] as WantedTarget, WANTED[1] as WantedTarget], {}, mute);
    await settled();
    await chain('source').finish('hello');
    await chain('text:es').finish('hola');
    expect(events.filter((event) => event.startsWith('es/'))).toEqual([
      'es/text hello|hola|',
      'es/voice failed NO_CAPABLE_NODE: no node can speak es',
    ]);
  });

  it('typed text needs no recognition', async () => {
    const { chain, products, events } = startPlan([WANTED[1] as WantedTarget, WANTED[2] as WantedTarget], {
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
    const { chain, products, events } = startPlan(
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
    const { chain, products, events } = startPlan(
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
    const { chain, products, events } = startPlan(
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
