/** For every scenario a node that is broken in the way that the scenario is about. */
import {
  adds,
  type Broken,
  configured,
  edits,
  type Fields,
  ignores,
  ignoresDeadline,
  misprints,
  misreads,
  omits,
  onConnection,
} from './break-node.ts';

export interface Breakage {
  readonly scenario: string;
  readonly how: string;
  readonly make: () => Broken;
  /** The verdict. */
  readonly says: RegExp;
}

const errorOf =
  (code: string, message = 'odd') =>
  (): Fields => ({ success: false, error: { code, message } });
const refOf = (message: Fields): Fields => Object(message.audio_ref) as Fields;

const entry = (scenario: string, how: string, make: () => Broken, says: RegExp): Breakage => ({
  scenario,
  how,
  make,
  says,
});

const NOTHING_CAME = /^no message came/;
/** The result may have arrived already. */
const NO_ACK = /^no message came|type must be "job_ack"/;
const NO_BEAT = /^no heartbeat as expected/;
const NOT_PRINTED = /did not print/;

export const BREAKAGES: readonly Breakage[] = [
  entry(
    'registers',
    'names no extensions',
    edits('node_register', () => ({ supports: [] })),
    /supports lacks "job_ack"/,
  ),
  entry(
    'registers',
    'names jobs of another process',
    edits('node_register', () => ({ running_job_ids: ['job-old'] })),
    /running_job_ids/,
  ),
  entry('registers', 'has no token', configured({ token: undefined }), /Authorization/),
  entry('sends a heartbeat at once', 'sends none', omits('node_heartbeat'), NO_BEAT),
  entry(
    'obeys the heartbeat interval',
    'stops after a few',
    () => {
      let beats = 0;
      return omits('node_heartbeat', () => ++beats > 3)();
    },
    NO_BEAT,
  ),
  entry(
    'names its running jobs',
    'forgets one',
    () => {
      let isOver = false;
      const hides = edits(
        'node_heartbeat',
        () => ({ running_job_ids: [] }),
        ({ running_job_ids: ids }) => {
          isOver = (ids as string[]).length > 0;
          return isOver;
        },
      )();
      return { tampering: { ...hides.tampering, isOver: () => isOver } };
    },
    NO_BEAT,
  ),
  entry(
    'adopts the assigned id',
    'keeps its own',
    edits('job_ack', () => ({ node_id: 'node-wanted' })),
    /node_id must be "node-other"/,
  ),
  entry('shows a wrong token', 'has another code', misprints('refused', { code: 'ERROR' }), NOT_PRINTED),
  entry(
    'shows a wrong address',
    'does not name the path',
    misprints('refused', { message: 'no' }),
    NOT_PRINTED,
  ),
  entry(
    'shows a refused registration',
    'hides the reason',
    misprints('refused', { message: 'no' }),
    NOT_PRINTED,
  ),
  entry('waits for an unavailable scheduler', 'does not register', omits('node_register'), NOTHING_CAME),
  entry(
    'repeats an unanswered registration',
    'does not',
    omits('node_register', onConnection(2)),
    NOTHING_CAME,
  ),
  entry(
    'answers a job',
    'forgets the attempt',
    edits('job_result', () => ({ attempt_id: 1 })),
    /attempt_id must be 3/,
  ),
  entry('answers a job', 'acknowledges twice', adds('job_ack', ackOf('job-a')), /type must be "job_result"/),
  entry(
    'sends partial texts',
    'omits the first',
    edits('asr_partial', () => ({ text: '你好 🙂' })),
    /text must be "你"/,
  ),
  entry(
    'tells texts before the voice',
    'forgets the attempt',
    edits('job_text', () => ({ attempt_id: 1 })),
    /attempt_id must be 3/,
  ),
  entry(
    'encodes speech',
    'encodes differently',
    edits('job_result', () => ({ tts_audio: '0001ffe0' })),
    /tts_audio/,
  ),
  entry(
    'reports a failure with its code',
    'has its own code',
    edits('job_result', errorOf('FAILED')),
    /error.code/,
  ),
  entry(
    'reports a crash of the handler',
    'hides the cause',
    edits('job_result', errorOf('PROCESSING_ERROR')),
    /error.message/,
  ),
  entry(
    'refuses to send an invalid result',
    'calls it a success',
    edits('job_result', () => ({ success: true })),
    /success must be false/,
  ),
  entry(
    'refuses jobs beyond its slots',
    'takes one more',
    configured({ max_concurrent_jobs: 3 }),
    /max_concurrent|type must be "job_result"/,
  ),
  entry(
    'runs a repeated job once',
    'runs it twice',
    misreads('job_assign', ({ attempt_id: attempt }) => (attempt === 2 ? { job_id: 'job-a2' } : {})),
    /type must be "job_result"/,
  ),
  entry(
    'runs a failed job again',
    'answers from memory',
    misreads('job_assign', () => ({ attempt_id: 1 })),
    /attempt_id must be 2/,
  ),
  entry('ends a job at its deadline', 'has no deadline', ignoresDeadline, NOT_PRINTED),
  entry(
    'runs a job whose deadline seems over',
    'refuses it',
    edits('job_result', errorOf('JOB_TIMEOUT')),
    /success must be true/,
  ),
  entry(
    'works on text',
    'ignores the text',
    misreads('job_assign', () => ({ input_text: 'other' })),
    /text_asr/,
  ),
  entry(
    'decodes audio',
    'drops a byte',
    misreads('job_assign', () => ({ audio: 'AwABAgMCAP8=' })),
    /text_asr/,
  ),
  entry(
    "fetches audio with the job's token",
    'uses its own token',
    misreads('job_assign', (job) => ({ audio_ref: { ...refOf(job), token: 'of-the-node' } })),
    /fetched with "Bearer of-the-node"/,
  ),
  entry(
    'resolves a relative reference',
    'looks elsewhere',
    misreads('job_assign', () => ({ audio_ref: { url: '/1', token: 't' } })),
    /success must be true/,
  ),
  entry(
    'leaves external references alone',
    'fetches them',
    misreads('job_assign', (job) => ({ audio_ref: { ...refOf(job), token: 't' } })),
    /success must be false/,
  ),
  entry(
    'reports lost audio',
    'has a common code',
    edits('job_result', errorOf('PROCESSING_ERROR')),
    /error.code must be "AUDIO_LOST"/,
  ),
  entry(
    'refuses more audio than announced',
    'reads all of it',
    misreads('job_assign', (job) => ({ audio_ref: { ...refOf(job), bytes: undefined } })),
    /success must be false/,
  ),
  entry(
    'follows no redirect',
    'follows it',
    misreads('job_assign', (job) => ({ audio_ref: { ...refOf(job), url: '/elsewhere' } })),
    /success must be false/,
  ),
  entry(
    'gives up a fetch without an answer',
    'hides the cause',
    edits('job_result', errorOf('PROCESSING_ERROR')),
    /error.message/,
  ),
  entry('stops a fetch of a cancelled job', 'waits for it', ignores('job_cancel'), NOTHING_CAME),
  entry('confirms a cancelled job', 'goes on', ignores('job_cancel'), NOT_PRINTED),
  entry(
    'confirms a cancelled job',
    'confirms twice',
    adds('job_result', { ...ackOf('job-a'), type: 'job_result', success: false }),
    /type must be "job_ack"/,
  ),
  entry(
    'ignores the cancelling of unknown jobs',
    'confirms them',
    misreads('job_cancel', () => ({ ...assignment, type: 'job_assign' })),
    /more than expected/,
  ),
  entry(
    'keeps the slot until a cancelled job has ended',
    'frees it at once',
    configured({ max_concurrent_jobs: 2 }),
    /type must be "job_result"/,
  ),
  entry(
    'refuses a new attempt while the old one is ending',
    'cancels it, too',
    edits('job_result', errorOf('JOB_CANCELLED')),
    /error.code must be "NODE_OVERLOADED"/,
  ),
  entry('drains on command', 'does not', ignores('node_control'), NO_BEAT),
  entry(
    'resumes after a drain',
    'goes on draining',
    ignores('node_control', ({ command }) => command === 'resume'),
    NO_BEAT,
  ),
  entry(
    'announces that its machine is taken away',
    'does not say when',
    edits('node_heartbeat', () => ({ leaving_in_ms: undefined })),
    NO_BEAT,
  ),
  entry('shuts down on command', 'does not', ignores('node_control'), NO_BEAT),
  entry('passes on other commands', 'keeps them', misprints('command', { command: 'none' }), NOT_PRINTED),
  entry(
    'waits for running jobs when it stops',
    'gives them up',
    () => ({ program: { order: (order) => ('do' in order ? { ...order, grace_ms: 0 } : {}) } }),
    /success must be true/,
  ),
  entry(
    'gives up running jobs after the grace time',
    'has its own code',
    edits('job_result', errorOf('STOPPED')),
    /error.code/,
  ),
  entry(
    'reconnects with its running jobs',
    'forgets them',
    edits('node_register', () => ({ running_job_ids: [] })),
    /running_job_ids must be \["job-a"\]/,
  ),
  entry('keeps results while it is offline', 'drops them', omits('job_result'), NOTHING_CAME),
  entry('sends an unread result again', 'does not', omits('job_result', onConnection(2)), NOTHING_CAME),
  entry(
    'sends kept results under a new id',
    'sends the old id',
    edits('job_result', () => ({ node_id: 'node-first' })),
    /node_id must be "node-second"/,
  ),
  entry('detects a dead connection', 'does not', omits('node_register', onConnection(2)), NOTHING_CAME),
  entry('reconnects on command', 'does not', ignores('node_control'), NOTHING_CAME),
  entry(
    'returns quickly after restarts',
    'stays away',
    omits('node_register', onConnection(9)),
    NOTHING_CAME,
  ),
  entry(
    'ignores jobs before the acknowledgement',
    'takes them',
    adds('node_register', ackOf('job-early')),
    /job_id must be "job-a"/,
  ),
  entry(
    'reads null as absent',
    'echoes null',
    edits('job_result', () => ({ group_id: null })),
    /group_id must be absent/,
  ),
  entry('ignores unknown fields and types', 'stops at them', omits('job_ack'), NO_ACK),
  entry(
    'survives malformed frames',
    'answers them',
    adds('node_register', ackOf('job-odd')),
    /more than expected/,
  ),
  entry('survives an error of the scheduler', 'stops', omits('job_ack'), NO_ACK),
  entry(
    'keeps all letters',
    'replaces them',
    edits('job_result', () => ({ text_asr: '?' })),
    /text_asr/,
  ),
];

const assignment: Fields = {
  job_id: 'job-1',
  attempt_id: 1,
  session_id: 's-1',
  utterance_index: 0,
  src_lang: 'en',
  tgt_lang: 'de',
  pipeline: { use_asr: true, use_nmt: true, use_tts: true },
  audio: '',
  audio_format: 'pcm16',
  sample_rate: 16_000,
  trace_id: '',
};

function ackOf(job: string): Fields {
  return {
    type: 'job_ack',
    job_id: job,
    attempt_id: 1,
    node_id: 'node-given',
    session_id: 's-1',
    trace_id: '',
  };
}
