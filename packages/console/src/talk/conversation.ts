/** A conversation through the platform: one microphone, a session per direction, the turns so far, and their sound. */
import type { TranslateReply } from '@lingua/protocol';
import { openSession, type Session, type SessionEvents } from '@lingua/sdk/client';
import { signal } from '@preact/signals';
import { token } from '../data/credentials.ts';
import { addressOf, request } from '../data/request.ts';
import { createCapture } from './capture.ts';
import { createLoudspeaker, type Loudspeaker } from './loudspeaker.ts';
import { applyEvent, isSimulated, newTurn, type Turn, type TurnEvent } from './turns.ts';

export type Side = 'a' | 'b';

export interface Direction {
  readonly source: string;
  readonly target: string;
}

const MOST_TURNS = 50;
export type Conversation = ReturnType<typeof createConversation>;

/** `further`: languages into which side a is translated, too, as text. */
export function createConversation(
  directions: Readonly<Record<Side, Direction>>,
  further: readonly string[] = [],
) {
  const turns = signal<readonly Turn[]>([]);
  const speaking = signal<Side | undefined>(undefined);
  const problem = signal('');
  const isOpen = signal(false);
  const sessions = new Map<Side, Session>();
  let loudspeaker: Loudspeaker | undefined;
  let hasHeadphones = false;
  /** Who speaks next. */
  let next: Side = 'a';
  let nextKey = 0;
  const capture = createCapture({
    begin: () => begin(next),
    send(bytes) {
      const side = speaking.peek();
      if (side !== undefined) sessionOf(side).sendAudio(bytes);
    },
    end,
    isDeaf: () => loudspeaker?.isPlaying === true && !hasHeadphones,
    opened({ context, source }) {
      loudspeaker = createLoudspeaker(context, source);
      loudspeaker.setOwnVoice(hasHeadphones);
    },
    failed(message) {
      problem.value = message;
    },
  });

  function change(find: (turn: Turn) => boolean, next: (turn: Turn) => Turn): void {
    turns.value = turns.peek().map((turn) => (find(turn) ? next(turn) : turn));
  }

  /** Events before the end of an utterance have no request id yet: they are about the turn that is being spoken. */
  function take(side: Side, event: TurnEvent): void {
    const own = turns.peek().filter((turn) => turn.side === side);
    const turn =
      own.find(({ requestId }) => requestId !== undefined && requestId === event.requestId) ?? own.at(-1);
    if (turn !== undefined)
      change(
        ({ key }) => key === turn.key,
        (known) => applyEvent(known, event, performance.now()),
      );
  }

  function targetsOf(side: Side): string[] {
    const { target } = directions[side];
    return side === 'a' ? [target, ...further.filter((language) => language !== target)] : [target];
  }

  function sessionOf(side: Side): Session {
    const known = sessions.get(side);
    if (known !== undefined && known.state !== 'failed' && known.state !== 'closed') return known;
    const { source, target } = directions[side];
    const session = openSession({
      url: addressOf('./'),
      ...(token.peek() !== '' && { token: token.peek() }),
      srcLang: source,
      tgtLang: target,
      // With outcomes of its own for each language, a text does not wait for its voice, or fail because there is none.
      tgtLangs: targetsOf(side),
      voiceLangs: [target],
      enableStreamingAsr: true,
      partialUpdateIntervalMs: 300,
    });
    session.on('open', () => {
      isOpen.value = true;
      problem.value = '';
    });
    session.on('disconnected', ({ reason }) => {
      isOpen.value = false;
      problem.value = reason;
    });
    session.on('error', ({ code, message, isFatal }) => {
      if (isFatal) problem.value = `${code}: ${message}`;
    });
    for (const name of ['accepted', 'partial', 'missing', 'result', 'voice'] as const)
      session.on(name, (event) => take(side, event as TurnEvent));
    for (const name of ['result', 'voice'] as const) session.on(name, (event) => void sound(session, event));
    sessions.set(side, session);
    return session;
  }

  async function sound(
    session: Session,
    event: SessionEvents['result'] | SessionEvents['voice'],
  ): Promise<void> {
    const { ttsAudio, ttsFormat, groupId, traceId, requestId } = event;
    if (loudspeaker === undefined || ttsAudio.length === 0 || ttsFormat === 'opus') return;
    await loudspeaker.play(ttsAudio, () => {
      if (groupId !== undefined) session.playbackStarted(groupId, traceId);
      const now = performance.now();
      change(
        (turn) => turn.requestId === requestId && turn.soundMs === undefined,
        (turn) => ({ ...turn, soundMs: now - (turn.endedAt ?? now) }),
      );
    });
    if (groupId !== undefined) session.playbackEnded(groupId, traceId);
  }

  function begin(side: Side): void {
    const { source, target } = directions[side];
    speaking.value = side;
    turns.value = [...turns.peek().slice(1 - MOST_TURNS), newTurn(nextKey, side, source, target)];
    nextKey += 1;
    sessionOf(side);
  }

  function end(): void {
    const side = speaking.peek();
    if (side === undefined) return;
    speaking.value = undefined;
    const requestId = sessionOf(side).endUtterance();
    const last = turns.peek().at(-1);
    if (last === undefined) return;
    // Nothing was recorded, for example because the button was released at once.
    if (requestId === undefined) turns.value = turns.peek().filter(({ key }) => key !== last.key);
    else
      change(
        ({ key }) => key === last.key,
        (turn) => ({ ...turn, requestId, endedAt: performance.now() }),
      );
  }

  return {
    turns,
    speaking,
    loudness: capture.loudness,
    obstacle: capture.obstacle,
    problem,
    isOpen,
    /** The first call asks the person for the microphone. */
    async press(side: Side): Promise<void> {
      if (speaking.peek() !== undefined) return;
      next = side;
      await capture.press();
    },
    release: capture.release,
    /** A typed sentence is a job without sound. */
    async type(text: string): Promise<void> {
      const { source, target } = directions.a;
      const started = { heard: text, endedAt: performance.now(), isTyped: true };
      const turn = { ...newTurn(nextKey, 'a', source, target), ...started };
      nextKey += 1;
      turns.value = [...turns.peek().slice(1 - MOST_TURNS), turn];
      const set = (fields: Partial<Turn>): void =>
        change(
          ({ key }) => key === turn.key,
          (known) => ({ ...known, ...fields }),
        );
      try {
        const tgt_langs = targetsOf('a');
        const body = { src_lang: source, tgt_lang: target, text, ...(tgt_langs.length > 1 && { tgt_langs }) };
        const reply = await request<TranslateReply>('v1/translate', { method: 'POST', body });
        const others = reply.targets?.filter(({ tgt_lang }) => tgt_lang !== target) ?? [];
        set({
          jobId: reply.job_id,
          translated: reply.text_translated ?? '',
          others: new Map(others.map(({ tgt_lang, text_translated }) => [tgt_lang, text_translated ?? '–'])),
          isSimulated: isSimulated(reply.extra),
          totalMs: performance.now() - turn.endedAt,
        });
      } catch (error) {
        set({ problem: error instanceof Error ? error.message : String(error) });
      }
    },
    async listen(isOn: boolean): Promise<void> {
      next = 'a';
      if (await capture.listen(isOn)) sessionOf('a');
    },
    /** Headphones: the own voice is heard, too, and what plays does not reach the microphone. */
    setHeadphones(has: boolean): void {
      hasHeadphones = has;
      loudspeaker?.setOwnVoice(has);
    },
    stop(): void {
      capture.stop();
      loudspeaker = undefined;
      for (const session of sessions.values()) void session.close('left the page');
      sessions.clear();
    },
  };
}
