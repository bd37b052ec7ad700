/** Runs inside the Talk page before its own scripts: notes when audio is sealed, when texts arrive, and what is really played. */

export interface PageLog {
  /** Of the page's clock, as are all times. */
  readonly firstChunkAt?: number;
  /** The frame that ends the utterance was given to the socket. */
  readonly sealedAt?: number;
  /** The same moment by the clock of the machine, which the scheduler and its nodes use, too. */
  readonly sealedEpochMs?: number;
  readonly firstPartialAt?: number;
  /** The translated text, which does not wait for its voice. */
  readonly textAt?: number;
  readonly voiceAt?: number;
  /** Of the part that was spoken. */
  readonly timings?: Readonly<Record<string, number>>;
  readonly sentEpochMs?: number;
  readonly jobId?: string;
  readonly soundAt?: number;
  readonly soundEndedAt?: number;
  readonly soundSeconds?: number;
  /** Of what reached the loudspeaker while the translation was played, from 0 to 1. */
  readonly loudest: number;
  /** The same before it: the own voice, for listeners with headphones. */
  readonly ownLoudest: number;
  readonly missing?: string;
}

/** Text, because the compiler here knows no browser. */
export const WATCH_PAGE = `(() => {
  const log = (globalThis.speechLog = { loudest: 0, ownLoudest: 0 });
  const now = () => performance.now();
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (data) {
    if (typeof data === 'string' && data.includes('"audio_chunk"')) {
      log.firstChunkAt ??= now();
      if (JSON.parse(data).is_final) {
        log.sealedAt ??= now();
        log.sealedEpochMs ??= Date.now();
      }
    }
    return send.call(this, data);
  };
  const Native = WebSocket;
  globalThis.WebSocket = class extends Native {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        const message = JSON.parse(data);
        if (message.type === 'asr_partial' && log.sealedAt === undefined) log.firstPartialAt ??= now();
        if (message.type === 'missing_result' && message.part === undefined) log.missing ??= message.reason;
        if (message.text_translated) log.textAt ??= now();
        if (message.tts_audio) {
          log.voiceAt ??= now();
          log.timings ??= { ...message.extra?.service_timings, ...message.service_timings };
          log.sentEpochMs ??= message.scheduler_sent_at_ms;
          log.jobId ??= message.job_id;
        }
      });
    }
  };
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to === this.context.destination) {
      const meter = new AnalyserNode(this.context, { fftSize: 2048 });
      connect.call(this, meter);
      const samples = new Float32Array(2048);
      setInterval(() => {
        if (log.soundEndedAt !== undefined) return;
        meter.getFloatTimeDomainData(samples);
        const name = log.soundAt === undefined ? 'ownLoudest' : 'loudest';
        for (const sample of samples) log[name] = Math.max(log[name], Math.abs(sample));
      }, 20);
    }
    return connect.call(this, to, ...rest);
  };
  const start = AudioBufferSourceNode.prototype.start;
  AudioBufferSourceNode.prototype.start = function (...args) {
    if (log.soundAt === undefined) {
      log.soundAt = now();
      log.soundSeconds = this.buffer.duration;
      this.addEventListener('ended', () => { log.soundEndedAt = now(); });
    }
    return start.apply(this, args);
  };
})()`;
