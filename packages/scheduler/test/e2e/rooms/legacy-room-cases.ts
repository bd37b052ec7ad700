/** The room mode of the deployed web client: what a server must do for it. `start`: the servers of its two members, perhaps the same. */
import { describe, expect, it } from 'vitest';
import { connectSession, type SessionClient, sessionUrl } from '../support/session-client.ts';
import type { RunningApp, Settings } from '../support/start-app.ts';
import { connectMember, joinNodes, joinRoom } from './support.ts';

/** Always the same languages, and no `supports`. */
const LEGACY = {
  type: 'session_init',
  client_version: 'web-client-1.0',
  platform: 'web',
  src_lang: 'zh',
  tgt_lang: 'en',
} as const;

export type StartServers = (settings: Settings) => Promise<readonly [RunningApp, RunningApp]>;

interface Listed {
  readonly session_id: string;
  readonly raw_voice_preferences: Readonly<Record<string, boolean>>;
}

const listedBy = (client: SessionClient): readonly Listed[] =>
  (client.of('room_members').at(-1)?.members ?? []) as readonly Listed[];

async function startBoth(start: StartServers) {
  const [a, b] = await start({ 'rooms.legacy_codes': true });
  async function open(server: { readonly url: string }, first: Readonly<Record<string, unknown>>) {
    const page = connectSession({ url: sessionUrl(server) });
    await page.opened();
    // The page does not wait for session_init_ack.
    page.send(LEGACY);
    page.send(first);
    return page;
  }
  const creator = await open(a, { type: 'room_create', client_ts: 1 });
  const { room_code } = await creator.next('room_create_ack');
  const code = room_code as string;
  const joiner = await open(b, { type: 'room_join', room_code: code, display_name: 'Bo' });
  await joiner.next('room_members');
  await creator.next('room_members', 2);
  return { a, b, creator, joiner, code, open };
}

export const describeLegacyRooms = (where: string, start: StartServers) =>
  describe(`the deployed web client ${where}`, () => {
    const startPages = () => startBoth(start);

    it('gets into a room: 1, 2 and 3 of what its server must do', async () => {
      const { creator, joiner, code } = await startPages();
      expect(code).toMatch(/^[1-9]\d{5}$/);
      // It ignores lists before it has the code, also as joiner.
      expect(joiner.frames.map(({ type }) => type)).toEqual([
        'session_init_ack',
        'room_create_ack',
        'room_members',
      ]);
      const ids = [creator.sessionId(), joiner.sessionId()];
      for (const page of [creator, joiner])
        expect(listedBy(page).map(({ session_id }) => session_id)).toEqual(ids);
    });

    it('4: gets refusals as room_error, which it does not show', async () => {
      const { b, open, joiner } = await startPages();
      const stranger = await open(b, { type: 'room_join', room_code: '000000' });
      expect(await stranger.next('room_error')).toMatchObject({ code: 'ROOM_NOT_FOUND' });
      joiner.send({ type: 'room_create', client_ts: 2 });
      expect(await joiner.next('room_error')).toMatchObject({ code: 'ALREADY_IN_ROOM' });
      joiner.send({ type: 'room_join', room_code: 7 });
      expect(await joiner.next('room_error', 2)).toMatchObject({ code: 'INVALID_ROOM_CODE' });
      expect([...stranger.of('error'), ...joiner.of('error')]).toEqual([]);
    });

    it('5: one wish for raw voice switches both directions, in the list of each', async () => {
      const { creator, joiner, code } = await startPages();
      const [one, other] = [creator.sessionId(), joiner.sessionId()];
      const wish = (receive_raw_voice: boolean) =>
        creator.send({
          type: 'room_raw_voice_preference',
          room_code: code,
          target_session_id: other,
          receive_raw_voice,
        });
      const wishesOf = (page: SessionClient) => listedBy(page).map((member) => member.raw_voice_preferences);
      wish(false);
      await joiner.next('room_members', 2);
      await creator.next('room_members', 3);
      expect(wishesOf(creator)).toEqual([{}, { [one]: false }]);
      expect(wishesOf(joiner)).toEqual([{ [other]: false }, {}]);
      joiner.send({ type: 'webrtc_offer', room_code: code, to: one, sdp: 'dropped' });
      wish(true);
      await joiner.next('room_members', 3);
      expect(wishesOf(joiner)).toEqual([{}, {}]);
      expect(creator.of('webrtc_offer')).toEqual([]);
    });

    it('6: relays between the two, named by the sender; only who joined later may offer', async () => {
      const { creator, joiner, code } = await startPages();
      const [one, other] = [creator.sessionId(), joiner.sessionId()];
      creator.send({
        type: 'webrtc_offer',
        room_code: code,
        to: other,
        sdp: { type: 'offer', sdp: 'early' },
      });
      joiner.send({ type: 'webrtc_offer', room_code: code, to: one, sdp: { type: 'offer', sdp: 'late' } });
      expect(await creator.next('webrtc_offer')).toMatchObject({ to: other, sdp: { sdp: 'late' } });
      creator.send({
        type: 'webrtc_answer',
        room_code: code,
        to: other,
        sdp: { type: 'answer', sdp: 'yes' },
      });
      expect(await joiner.next('webrtc_answer')).toMatchObject({ to: one, sdp: { sdp: 'yes' } });
      creator.send({ type: 'webrtc_ice', room_code: code, to: other, candidate: { candidate: 'c' } });
      expect(await joiner.next('webrtc_ice')).toMatchObject({ to: one, candidate: { candidate: 'c' } });
      expect(joiner.of('webrtc_offer')).toEqual([]);
    });

    it('7 and 8: a closed socket leaves; leaving a room that is gone says nothing', async () => {
      const { creator, joiner, code } = await startPages();
      joiner.cut();
      await creator.next('room_members', 3);
      expect(listedBy(creator).map(({ session_id }) => session_id)).toEqual([creator.sessionId()]);
      creator.send({ type: 'room_leave', room_code: '999999' });
      creator.send({ type: 'room_leave', room_code: code });
      creator.send({ type: 'room_leave', room_code: code });
      await creator.handled();
      expect([...creator.of('room_error'), ...creator.of('error')]).toEqual([]);
    });

    it('is shown what a current client on the other instance says, with indexes of its own, and nothing twice', async () => {
      const { a, b, creator, joiner, code } = await startPages();
      await joinNodes(b.nodeUrl, ['recogniser', 'translator'], { pairs: ['en>es'] });
      await a.readyNodes(2);
      const speaker = await connectMember(b, { speaks: 'en', hears: 'es' });
      await joinRoom(speaker, code);
      speaker.say('one');
      await creator.outcome();
      speaker.say('two');
      await creator.outcome(2);
      await joiner.outcome(2);
      for (const page of [creator, joiner]) {
        const shown = page.outcomes();
        expect(shown.map(({ text_translated, tts_audio }) => [text_translated, tts_audio])).toEqual([
          ['one', ''],
          ['two', ''],
        ]);
        expect(new Set(shown.map(({ utterance_index }) => utterance_index)).size).toBe(2);
      }
    });
  });
