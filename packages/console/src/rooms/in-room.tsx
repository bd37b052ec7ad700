/** A guest in the room: who is there, how to speak, and what is said. */
import { useState } from 'preact/hooks';
import { languageName } from '../show/format.ts';
import { Empty } from '../show/parts.tsx';
import { HandsFreeButton, HoldButton } from '../talk/speak-buttons.tsx';
import { tTalk } from '../talk/talk-text.ts';
import { tOr } from '../texts/text.ts';
import type { Attendance, Line } from './attendance.ts';
import { RenditionNote } from './rendition-note.tsx';
import { tRoom } from './room-text.ts';

export function InRoom({ attendance }: { attendance: Attendance }) {
  const { phase, people, isConnected, problem } = attendance;
  if (phase.value.kind === 'joining') return <Empty>{tRoom('join.joining')}</Empty>;
  const me = people.value.find(({ isMe }) => isMe);
  return (
    <div class="in-room">
      <div class="title">
        <h1>{attendance.title() ?? tRoom('join.title')}</h1>
        <span class="buttons">
          <button type="button" onClick={attendance.leave}>
            {tRoom('join.leave')}
          </button>
        </span>
      </div>
      <ul class="people" aria-label={tRoom('rooms.members')}>
        {people.value.map(({ id, name, hears, isMe, isAway }) => (
          <li key={id} class={`state ${isAway ? 'state-waiting' : ''}`}>
            {name ?? tRoom('room.unnamed')}
            {isMe && ` (${tRoom('join.you')})`}
            {hears !== undefined && ` · ${languageName(hears)}`}
            {isAway && ` · ${tRoom('room.away')}`}
          </li>
        ))}
      </ul>
      {!isConnected.value && (
        <p class="notice warning" role="status">
          {tRoom('join.reconnecting')}
        </p>
      )}
      {problem.value !== '' && (
        <p class="notice warning" role="alert">
          {problem.value}
        </p>
      )}
      {me !== undefined && me.role !== 'listener' && attendance.canSpeak && <Speak attendance={attendance} />}
      <Lines lines={attendance.lines.value} />
    </div>
  );
}

function Speak({ attendance }: { attendance: Attendance }) {
  const [isHandsFree, setHandsFree] = useState(false);
  const { capture, isMuted, isSpeaking } = attendance;
  const button = { isActive: isSpeaking.value, isPossible: !isMuted.value };
  return (
    <>
      {isMuted.value && (
        <p class="notice" role="status">
          {tRoom('join.muted')}
        </p>
      )}
      {capture.obstacle.value !== undefined && (
        <p class="notice warning" role="alert">
          {tTalk(`talk.${capture.obstacle.value}`)}
        </p>
      )}
      <fieldset class="choice" aria-label={tTalk('talk.mode')}>
        {[false, true].map((mode) => (
          <button
            key={String(mode)}
            type="button"
            aria-pressed={isHandsFree === mode}
            onClick={() => setHandsFree(mode)}
          >
            {tTalk(mode ? 'talk.hands_free' : 'talk.press')}
          </button>
        ))}
      </fieldset>
      {isHandsFree ? (
        <HandsFreeButton {...button} loudness={capture.loudness} onListen={capture.listen} />
      ) : (
        <HoldButton {...button} onPress={() => void capture.press()} onRelease={capture.release} />
      )}
    </>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  if (lines.length === 0) return <Empty>{tRoom('room.silent')}</Empty>;
  return (
    <ul class="conversation" aria-live="polite">
      {[...lines].reverse().map((line) => (
        <LineItem key={line.key} line={line} />
      ))}
    </ul>
  );
}

function LineItem({ line }: { line: Line }) {
  const { speaker, text, language, isFinal, problem } = line;
  const isOwn = speaker === undefined;
  return (
    <li class={isOwn ? 'own' : ''}>
      <p class="quiet">{isOwn ? tRoom('join.you') : speaker === '' ? tRoom('room.unnamed') : speaker}</p>
      <p>
        <span class={isOwn ? '' : 'translated'} lang={language}>
          {text}
        </span>
        {isOwn && problem !== undefined ? (
          <span class="quiet">{tRoom('join.lost', { reason: tOr(`missing.${problem}`, problem) })}</span>
        ) : (
          <RenditionNote isFinal={isFinal} errorCode={problem} />
        )}
      </p>
    </li>
  );
}
