/** A node of the chaos fleet with the Python SDK: its work is recorded, and it dies and returns as a process does. */
import { expect, it, onTestFinished } from 'vitest';
import { createRecorder, ofKind } from '../../../packages/simulation/dist/history.js';
import { joinPythonFleetNode, whyNoPython } from '../../src/chaos/fleet/python-fleet-node.ts';
import { speak } from '../../src/chaos/fleet/speech.ts';
import { type Message, startScriptedScheduler } from '../../src/conformance/scripted-scheduler.ts';
import { eventually } from '../../src/eventually.ts';

const TEMPER = { workMs: () => 1, isClumsy: () => false, isSleepy: () => false };

async function joined(workMs = TEMPER.workMs) {
  const recorder = createRecorder();
  let answered = 0;
  const scheduler = await startScriptedScheduler(() => {
    // The node waits for an acknowledgement of each registration.
    const registrations = scheduler?.received.filter(({ message }) => message.type === 'node_register') ?? [];
    for (; answered < registrations.length; answered += 1) {
      const ack = { message: '', status: 'registering', heartbeat_interval_ms: 60_000 };
      scheduler?.send(JSON.stringify({ type: 'node_register_ack', node_id: 'node-python-1', ...ack }));
    }
  });
  const port = Number(new URL(scheduler.httpUrl()).port);
  const node = await joinPythonFleetNode({
    name: 'node-python-1',
    slots: 1,
    recorder,
    temper: { ...TEMPER, workMs },
    backends: () => [{ instance: 'i1', port }],
  });
  onTestFinished(async () => {
    await node.stop();
    await scheduler.stopListening();
  });
  const results = (): Message[] =>
    scheduler.received.flatMap(({ message }) => (message.type === 'job_result' ? message : []));
  const assign = (job: string): void =>
    scheduler.send(
      JSON.stringify({
        type: 'job_assign',
        job_id: job,
        attempt_id: 1,
        session_id: 's-1',
        utterance_index: 0,
        src_lang: 'en',
        tgt_lang: 'zh',
        pipeline: { use_asr: true, use_nmt: true, use_tts: true },
        audio: speak('four words of speech', 200).toString('base64'),
        audio_format: 'pcm16',
        sample_rate: 16_000,
        trace_id: '',
      }),
    );
  return { node, scheduler, recorder, results, assign };
}

it('the machine of the tests has Python', () => {
  expect(whyNoPython()).toBeUndefined();
});

it('a job is heard, done and recorded', async () => {
  const { recorder, results, assign } = await joined();
  assign('job-a');
  await eventually(() => results().length === 1);
  expect(results()[0]).toMatchObject({
    success: true,
    text_translated: expect.stringMatching(/^four words of speech\|asr\+/),
  });
  const kinds = recorder.history.flatMap((event) =>
    'job' in event && event.job === 'job-a' ? event.kind : [],
  );
  expect(kinds).toEqual(['assigned', 'started', 'acknowledged', 'understood', 'ended']);
});

it('refusals and cancelled jobs are recorded', async () => {
  const { scheduler, recorder, results, assign } = await joined(() => 600_000);
  assign('job-a');
  await eventually(() => ofKind(recorder.history, 'started').length === 1);
  assign('job-b');
  await eventually(() => ofKind(recorder.history, 'turned_away').length === 1);
  scheduler.send(JSON.stringify({ type: 'job_cancel', job_id: 'job-a' }));
  await eventually(() => results().length === 2);
  expect(ofKind(recorder.history, 'ended')).toMatchObject([{ job: 'job-a', how: 'cancelled' }]);
  expect(results().map(({ error }) => Object(error).code)).toEqual(['NODE_OVERLOADED', 'JOB_CANCELLED']);
});

it('a killed node sends nothing more, and another process takes its place', async () => {
  const { node, scheduler, recorder, results, assign } = await joined(() => 600_000);
  assign('job-a');
  await eventually(() => ofKind(recorder.history, 'understood').length === 1);
  node.kill();
  await eventually(() => scheduler.closeCode() === 1006);
  await node.restart();
  expect(results()).toEqual([]);
  const registrations = scheduler.received.filter(({ message }) => message.type === 'node_register');
  expect(registrations.map(({ message }) => message.running_job_ids)).toEqual([[], []]);
  expect(recorder.history.map(({ kind }) => kind)).toEqual([
    'node_up',
    'assigned',
    'started',
    'acknowledged',
    'understood',
    'node_down',
    'node_up',
  ]);
});
