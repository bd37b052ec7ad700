/** One speaker of a room, on a ready-made socket. */
import WebSocket from 'ws';

const AUDIO = Buffer.alloc(3_200, 0x5a).toString('base64');

export interface Speaker {
  readonly code: string;
  /** Resolves when its words were recognised. */
  say(): Promise<void>;
  stop(): void;
}

type Frame = Readonly<Record<string, string | undefined>>;

/** Opens a room, in which it speaks and hears this language. */
export function startSpeaker(url: string, language: string): Promise<Speaker> {
  const ws = new WebSocket(url, { perMessageDeflate: false, skipUTF8Validation: true });
  const send = (message: object): void => ws.send(JSON.stringify(message));
  const waiting: ((fault?: Error) => void)[] = [];
  let sessionId = '';
  let said = 0;

  const say = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push((fault) => (fault === undefined ? resolve() : reject(fault)));
      said += 1;
      send({
        type: 'utterance',
        session_id: sessionId,
        utterance_index: said,
        manual_cut: true,
        src_lang: language,
        tgt_lang: language,
        audio: AUDIO,
        audio_format: 'pcm16',
        sample_rate: 16_000,
        request_id: `${sessionId}-${said}`,
      });
    });

  return new Promise((resolve, reject) => {
    ws.on('error', reject);
    ws.on('open', () =>
      send({
        type: 'session_init',
        client_version: 'bench',
        platform: 'web',
        src_lang: language,
        tgt_lang: language,
        supports: ['result_ack', 'utterance_accepted', 'backpressure', 'server_draining'],
      }),
    );
    ws.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as Frame & { readonly delivery_seq?: number };
      switch (frame.type) {
        case 'session_init_ack':
          sessionId = frame.session_id ?? '';
          return send({ type: 'room_create', client_ts: Date.now() });
        case 'room_state':
          return resolve({ code: frame.room_code ?? '', say, stop: () => ws.terminate() });
        case 'translation_result':
        case 'missing_result': {
          send({ type: 'result_ack', session_id: sessionId, delivery_seq: frame.delivery_seq });
          const fault =
            frame.type === 'missing_result' ? new Error(`not recognised: ${data.toString()}`) : undefined;
          return waiting.shift()?.(fault);
        }
        case 'room_error':
        case 'error':
          return reject(new Error(data.toString()));
      }
    });
  });
}
