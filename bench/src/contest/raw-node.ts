/** A minimal node: it acknowledges at once, works as long as configured, and sends heartbeats. */
import WebSocket from 'ws';
import { simulatedCapabilities } from '../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';

export interface RawNodeOptions {
  readonly url: string;
  readonly nodeId: string;
  readonly slots: number;
  readonly languages: readonly string[];
  readonly heartbeatMs: number;
  readonly serviceMs: () => number;
  readonly onAssigned: (sessionId: string, utteranceIndex: number) => void;
  readonly onDone: () => void;
}

type Assigned = Readonly<Record<'job_id' | 'session_id' | 'trace_id', string>> &
  Readonly<Record<'attempt_id' | 'utterance_index', number>>;

const OUTPUT = {
  success: true,
  text_asr: 'hello',
  text_translated: 'hallo',
  tts_audio: '',
  tts_format: 'opus',
};

/** Resolves when it is registered and has sent one heartbeat. */
export function startRawNode(options: RawNodeOptions): Promise<void> {
  const { nodeId, slots, languages } = options;
  const running = new Set<string>();
  const ws = new WebSocket(`${options.url}/ws/node`, { perMessageDeflate: false, skipUTF8Validation: true });
  const send = (message: object): void => ws.send(JSON.stringify(message));

  function beat(): void {
    const resource_usage = { cpu_percent: 20, mem_percent: 20, running_jobs: running.size };
    const running_job_ids = [...running];
    send({ type: 'node_heartbeat', node_id: nodeId, timestamp: Date.now(), resource_usage, running_job_ids });
  }

  function work({ job_id, attempt_id, session_id, utterance_index, trace_id }: Assigned): void {
    options.onAssigned(session_id, utterance_index);
    const about = { job_id, attempt_id, node_id: nodeId, session_id, trace_id };
    running.add(job_id);
    send({ type: 'job_ack', ...about });
    const end = (): void => {
      running.delete(job_id);
      send({ type: 'job_result', ...about, utterance_index, ...OUTPUT });
      options.onDone();
    };
    const ms = options.serviceMs();
    if (ms > 0) setTimeout(end, ms);
    else end();
  }

  return new Promise((resolve, reject) => {
    ws.on('error', reject);
    ws.on('open', () =>
      send({
        type: 'node_register',
        node_id: nodeId,
        supports: ['job_ack', 'cancel_ack', 'audio_ref'],
        max_concurrent_jobs: slots,
        ...simulatedCapabilities(languages, false),
      }),
    );
    ws.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('{"type":"job_assign"')) work(JSON.parse(text) as Assigned);
      else if (text.startsWith('{"type":"node_register_ack"')) {
        beat();
        setInterval(beat, options.heartbeatMs).unref();
        resolve();
      } else if (text.startsWith('{"type":"error"')) reject(new Error(text));
    });
  });
}
