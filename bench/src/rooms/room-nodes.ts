/** Nodes of the bench of rooms: one recognises, one translates, both at once. They note when each result leaves. */
import WebSocket from 'ws';
import { simulatedCapabilities } from '../../../packages/scheduler/dist/cli/simulated-node/simulated-capabilities.js';

const SLOTS = 64;
const HEARTBEAT_MS = 5_000;
/** As long as a sentence. */
const SENTENCE = 'and the meeting starts at nine in the large room';

type Assigned = Readonly<Record<'job_id' | 'session_id' | 'trace_id' | 'tgt_lang', string>> &
  Readonly<Record<'attempt_id' | 'utterance_index', number>> & { readonly input_text?: string };

export interface RoomNodes {
  /** "utterance language" → when its translation left the node (ns of the machine's clock). */
  readonly leftAt: Map<string, bigint>;
  stop(): void;
}

export async function startRoomNodes(url: string, languages: readonly string[]): Promise<RoomNodes> {
  const leftAt = new Map<string, bigint>();
  const stops: (() => void)[] = [];
  let recognised = 0;

  /** Source texts begin with the number of the utterance. */
  function perform({ input_text: text, tgt_lang }: Assigned): object {
    if (text === undefined) {
      recognised += 1;
      return { text_asr: `u${recognised} ${SENTENCE}`, text_translated: '' };
    }
    const [utterance = ''] = text.split(' ', 1);
    leftAt.set(`${utterance} ${tgt_lang}`, process.hrtime.bigint());
    return { text_asr: '', text_translated: `${utterance} ${tgt_lang} ${SENTENCE}` };
  }

  function join(nodeId: string, stages: readonly ('asr' | 'semantic' | 'nmt')[]): Promise<void> {
    const ws = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
    const send = (message: object): void => ws.send(JSON.stringify(message));
    const beat = (): void =>
      send({
        type: 'node_heartbeat',
        node_id: nodeId,
        timestamp: Date.now(),
        resource_usage: { cpu_percent: 20, mem_percent: 20, running_jobs: 0 },
        running_job_ids: [],
      });
    return new Promise((resolve, reject) => {
      ws.on('error', reject);
      ws.on('open', () =>
        send({
          type: 'node_register',
          node_id: nodeId,
          supports: ['job_ack', 'cancel_ack', 'audio_ref', 'text_input'],
          max_concurrent_jobs: SLOTS,
          ...simulatedCapabilities(languages, false, stages),
        }),
      );
      ws.on('message', (data: Buffer) => {
        const text = data.toString();
        if (text.startsWith('{"type":"job_assign"')) {
          const job = JSON.parse(text) as Assigned;
          const { job_id, attempt_id, session_id, utterance_index, trace_id } = job;
          const about = { job_id, attempt_id, node_id: nodeId, session_id, trace_id };
          send({ type: 'job_ack', ...about });
          send({ type: 'job_result', ...about, utterance_index, success: true, ...perform(job) });
        } else if (text.startsWith('{"type":"node_register_ack"')) {
          beat();
          const timer = setInterval(beat, HEARTBEAT_MS);
          stops.push(() => {
            clearInterval(timer);
            ws.terminate();
          });
          resolve();
        } else if (text.startsWith('{"type":"error"')) reject(new Error(text));
      });
    });
  }

  await join('recogniser', ['asr', 'semantic']);
  await join('translator', ['nmt']);
  return {
    leftAt,
    stop() {
      for (const stop of stops) stop();
    },
  };
}
