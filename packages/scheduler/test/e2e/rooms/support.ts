/** Members of a room over real sockets, and nodes that recognise and translate. */
import { eventually } from '../../support/eventually.ts';
import { type Frame, openSession, type SessionClient, sessionUrl } from '../support/session-client.ts';
import { joinStageNode, type StageNodeKind } from '../support/stage-nodes.ts';

export interface Member extends SessionClient {
  /** What it was shown, as "seq lang text", with `…` if a correction follows and `!` if there is no translation. */
  captions(): readonly string[];
  /** Waits for so many captions. */
  shown(count: number): Promise<readonly string[]>;
  /** Speaks; the audio is its own text. */
  say(text: string): void;
}

const lineOf = (frame: Frame): string =>
  `${frame.room_seq} ${frame.lang} ${frame.text}${frame.final === true ? '' : '…'}${frame.error_code === undefined ? '' : '!'}`;

/** A current client. */
export async function connectMember(
  server: { readonly url: string },
  languages: { readonly speaks: string; readonly hears: string },
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Member> {
  const client = await openSession(
    { url: sessionUrl(server) },
    { src_lang: languages.speaks, tgt_lang: languages.hears, ...fields },
  );
  const captions = () => client.of('room_caption').map(lineOf);
  let requests = 0;
  return {
    ...client,
    captions,
    async shown(count) {
      await eventually(() => captions().length >= count);
      return captions();
    },
    say(text) {
      requests += 1;
      client.send({
        type: 'utterance',
        session_id: client.sessionId(),
        utterance_index: requests,
        manual_cut: true,
        src_lang: languages.speaks,
        tgt_lang: languages.hears,
        audio: Buffer.from(text).toString('base64'),
        audio_format: 'pcm16',
        sample_rate: 16_000,
        request_id: `${client.sessionId()}-${requests}`,
      });
    },
  };
}

/** Creates a room. Returns its code. */
export async function createRoom(host: SessionClient, fields: Readonly<Record<string, unknown>> = {}) {
  host.send({ type: 'room_create', client_ts: 0, ...fields });
  const { room_code } = await host.next('room_create_ack');
  return room_code as string;
}

export async function joinRoom(
  member: SessionClient,
  room_code: string,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Frame> {
  const before = member.of('room_state').length;
  member.send({ type: 'room_join', room_code, ...fields });
  return member.next('room_state', before + 1);
}

export const joinNodes = (
  nodeUrl: string,
  kinds: readonly StageNodeKind[] = ['recogniser', 'translator'],
  options: Parameters<typeof joinStageNode>[2] = {},
) => Promise.all(kinds.map((kind) => joinStageNode(nodeUrl, kind, { ...options, nodeId: `node-${kind}` })));
