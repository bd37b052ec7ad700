/**
 * The legacy web client and legacy nodes together: the last section of docs/protocol.md about nodes, seen from a
 * session.
 */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  beatIdleUntil,
  connectLegacyNode,
  failure,
  type LegacyNodeOptions,
  TRANSLATED,
} from './support/legacy-node.ts';
import { openSession, resume, sessionUrl, spoken } from './support/session-client.ts';
import { MAX_BYTES, QUICK, SHORT_PAUSE } from './support/session-settings.ts';
import { type Settings, startApp } from './support/start-app.ts';
import { openWebClient, opus, type WebClient } from './support/web-client.ts';

type ReportedAttempt = NonNullable<LegacyNodeOptions['answer']>;

async function startFleet(answers: readonly ReportedAttempt[], settings: Settings = {}) {
  const app = await startApp({ ...QUICK, ...settings });
  const join = (answer: ReportedAttempt, nodeId: string) =>
    connectLegacyNode({ url: app.nodeUrl, nodeId, answer });
  const nodes = answers.map((answer, index) => join(answer, `node-${index}`));
  await app.readyNodes(nodes.length);
  return { app, nodes, join, web: await openWebClient({ url: sessionUrl(app) }) };
}

async function say(web: WebClient, sound = 1): Promise<void> {
  const index = web.of('ui_event').filter(({ event }) => event === 'INPUT_ENDED').length;
  web.speak(sound);
  web.letGo();
  await eventually(() => web.of('ui_event').filter(({ event }) => event === 'INPUT_ENDED').length > index);
}

const translate: ReportedAttempt = () => TRANSLATED;
const silent: ReportedAttempt = () => undefined;

describe('session job on a legacy node', () => {
  it('jobs have is_manual_cut for every cut, and no turn_id', async () => {
    const { nodes, web } = await startFleet([translate], { ...SHORT_PAUSE, [MAX_BYTES]: 4_096 });
    await say(web);
    web.speak(2);
    await web.outcome(2);
    // More than one utterance may hold: 546 bytes per chunk.
    for (let pieces = 0; pieces < 9; pieces += 1) web.speak(3);
    await web.outcome(4);
    expect(nodes[0]?.jobs).toHaveLength(4);
    for (const job of nodes[0]?.jobs ?? []) {
      expect(job.is_manual_cut).toBe(true);
      const flags = Object.keys(job).filter((field) =>
        /^is_.*_triggered$|^turn_id$|^deadline_ms$/.test(field),
      );
      expect(flags).toEqual([]);
    }
  });

  it('audio is inline, not empty, and split only between chunks', async () => {
    const { nodes, web } = await startFleet([translate], { [MAX_BYTES]: 4_096 });
    const sent = Buffer.concat(Array.from({ length: 9 }, (_, sound) => web.speak(sound)));
    web.letGo();
    await web.outcome(2);
    const parts = (nodes[0]?.jobs ?? []).map(({ audio }) => Buffer.from(audio, 'base64'));
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
    for (const part of parts) expect(part.length % opus(1).length).toBe(0);
  });

  it('utterance_index never restarts in a session, also after a resume', async () => {
    const { app, nodes } = await startFleet([translate]);
    const url = sessionUrl(app);
    const before = await openSession({ url });
    const session_id = before.sessionId();
    for (const seq of [1, 2]) before.send(spoken(before, seq));
    await before.outcome(2);
    before.send({ type: 'result_ack', session_id, delivery_seq: 2 });
    await before.handled();
    before.cut();
    const after = await resume(url, before);
    expect(after.frames[0]).toMatchObject({ session_id, resumed: true });
    for (const seq of [3, 4]) after.send(spoken(after, seq));
    await after.outcome(2);
    expect(nodes[0]?.jobs.map(({ utterance_index: index }) => index)).toEqual([0, 1, 2, 3]);
    expect(after.outcomes().map(({ type }) => type)).toEqual(['translation_result', 'translation_result']);
  });

  it('source auto without lang_a and lang_b is sent to no legacy node', async () => {
    const { app, nodes } = await startFleet([translate]);
    const init = { lang_a: null, lang_b: null, mode: 'one_way' };
    const web = await openWebClient({ url: sessionUrl(app), init });
    await say(web);
    expect(await web.outcome()).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(nodes[0]?.jobs).toEqual([]);
  });
});

describe('utterance on legacy nodes', () => {
  it('an utterance after a later one is retried on another node', async () => {
    const { nodes, join, web, app } = await startFleet([silent, silent], {
      'scheduler.legacy_node_slots': 1,
    });
    await say(web, 1);
    const holder = await eventually(() => nodes.find(({ jobs }) => jobs.length > 0));
    await say(web, 2);
    const other = await eventually(() => nodes.find((node) => node !== holder && node.jobs.length > 0));
    other.reply(await other.job(), TRANSLATED);
    await eventually(async () => (await app.nodes()).some(({ used_slots: used }) => used === 0));
    holder.reply(await holder.job(), failure('SEM_REPAIR_TIMEOUT'));
    const fresh = join(translate, 'node-fresh');
    expect(await web.outcome(1)).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect((await web.outcome(2)).utterance_index).toBe(1);
    expect(fresh.jobs).toMatchObject([{ utterance_index: 0, attempt_id: 2 }]);
    expect(other.jobs).toHaveLength(1);
  });

  it('an empty translation is retried, and the client sees one result', async () => {
    let tries = 0;
    const answer: ReportedAttempt = () =>
      ++tries === 1 ? { ...TRANSLATED, text_translated: '' } : TRANSLATED;
    const { web } = await startFleet([answer, answer]);
    await say(web);
    expect(await web.outcome()).toMatchObject({ text_translated: '你好' });
    await web.handled();
    expect(web.uiEvents(0)).toEqual([
      'INPUT_STARTED',
      'INPUT_ENDED',
      'DISPATCHED',
      'NODE_ACCEPTED',
      'ASR_FINAL',
      'NMT_DONE',
    ]);
    expect(web.outcomes()).toHaveLength(1);
  });

  it.each([
    [
      'NO_TEXT_ASSIGNED, with the attempt and trace of another job',
      'NO_TEXT_ASSIGNED',
      { attempt_id: 9, trace_id: 'x' },
    ],
    ['ASR_EMPTY', 'ASR_EMPTY', {}],
  ])('%s gives missing_result silence_detected', async (_, reason, fields) => {
    const empty = { success: true, text_asr: '', text_translated: '', extra: { reason }, ...fields };
    const { web } = await startFleet([() => empty]);
    await say(web);
    expect(await web.outcome()).toMatchObject({ type: 'missing_result', reason: 'silence_detected' });
    expect(web.uiEvents(0)).not.toContain('ERROR');
    expect(web.alerts()).toEqual([]);
  });

  it('a job that the node finds repeated moves to another node', async () => {
    let tries = 0;
    const answer: ReportedAttempt = () => (++tries === 1 ? failure('DUPLICATE_UTTERANCE_INDEX') : TRANSLATED);
    const { web } = await startFleet([answer, answer]);
    await say(web);
    expect((await web.outcome()).type).toBe('translation_result');
  });

  it('a late result of an abandoned utterance is not delivered', async () => {
    const { nodes, web } = await startFleet([(job) => (job.utterance_index === 0 ? undefined : TRANSLATED)], {
      'scheduler.result_gap_timeout_ms': 50,
      'scheduler.result_gap_max_ms': 50,
    });
    await say(web, 1);
    const late = await nodes[0]?.job();
    await say(web, 2);
    await web.outcome(2);
    expect(await nodes[0]?.next('job_cancel')).toMatchObject({ job_id: late?.job_id });
    if (late) nodes[0]?.reply(late, TRANSLATED);
    await say(web, 3);
    await web.outcome(3);
    expect(web.outcomes().map(({ type }) => type)).toEqual([
      'missing_result',
      'translation_result',
      'translation_result',
    ]);
  });

  it('a repeated sentence that its node never answers does not block the next one', async () => {
    const { app, nodes, web } = await startFleet([
      (job) => (job.utterance_index === 0 ? undefined : TRANSLATED),
    ]);
    await say(web, 1);
    await nodes[0]?.job(1);
    await say(web, 2);
    await nodes[0]?.job(2);
    await beatIdleUntil(nodes[0], () => web.of('missing_result').length > 0);
    expect(await web.outcome(1)).toMatchObject({ type: 'missing_result', reason: 'job_failed' });
    expect(await web.outcome(2)).toMatchObject({ type: 'translation_result', utterance_index: 1 });
    expect(web.of('ui_event').filter(({ status }) => status === 'error')).toMatchObject([
      { error_code: 'PROCESSING_ERROR', utterance_index: 0 },
    ]);
    expect(web.alerts()).toEqual([]);
    expect((await app.nodes())[0]).toMatchObject({ used_slots: 0 });
  });

  it('a text that the only node does not translate is delivered with the reason', async () => {
    const { web } = await startFleet([() => ({ ...TRANSLATED, text_translated: '' })]);
    await say(web);
    expect(await web.outcome()).toMatchObject({
      type: 'translation_result',
      text_asr: TRANSLATED.text_asr,
      text_translated: '',
      reason_codes: ['NO_TRANSLATION'],
    });
    expect(web.alerts()).toEqual([]);
  });

  it('a dropped node only delays the translation', async () => {
    const { nodes, web } = await startFleet([silent, silent]);
    await say(web);
    const holder = await eventually(() => nodes.find(({ jobs }) => jobs.length > 0));
    const other = nodes.find((node) => node !== holder);
    holder.drop();
    const job = await other?.job();
    if (job) other?.reply(job, TRANSLATED);
    expect(await web.outcome()).toMatchObject({ type: 'translation_result', utterance_index: 0 });
    expect(web.uiEvents(0)).not.toContain('ERROR');
  });
});
