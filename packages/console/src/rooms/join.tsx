/** The page of guests: joins one room from a link, with a name, a language, and a microphone or without. Made for phones. */
import type { OfferedLanguages, RoomView } from '@lingua/protocol';
import { useEffect, useState } from 'preact/hooks';
import { identity } from '../data/credentials.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route } from '../shell/router.ts';
import { languageName } from '../show/format.ts';
import { Empty, Failure, Loaded } from '../show/parts.tsx';
import { Choice } from '../talk/choose-languages.tsx';
import { findObstacle } from '../talk/microphone.ts';
import { tTalk } from '../talk/talk-text.ts';
import { type Attendance, attend, type Wishes } from './attendance.ts';
import { languagesOf } from './caption-log.ts';
import { InRoom } from './in-room.tsx';
import { tRoom, tRoomOr } from './room-text.ts';
import '../styles/talk.css';
import '../styles/rooms.css';

/** Offered besides those of the room, for the first person in it. */
const USUAL = ['en', 'zh', 'es', 'de', 'fr', 'ja'];

export function Join() {
  const name = identity.value?.room?.room_id ?? route.value.id;
  const [attendance, setAttendance] = useState<Attendance>();
  useEffect(() => () => attendance?.leave(), [attendance]);
  const phase = attendance?.phase.value;
  const isAway = attendance === undefined || phase?.kind === 'over';
  const resource = useResource<RoomView>(isAway && name !== '' ? `v1/rooms/${encodeURIComponent(name)}` : '');
  if (name === '') return <AskForCode />;
  if (!isAway) return <InRoom attendance={attendance} />;
  if (resource.error?.status === 404) return <Empty>{tRoom('join_over.ROOM_NOT_FOUND')}</Empty>;
  return (
    <>
      {phase?.kind === 'over' && <WhyOver reason={phase.reason} message={phase.message} />}
      <Loaded of={resource}>
        {(room) => <Form room={room} onJoin={(wishes) => setAttendance(attend(wishes))} />}
      </Loaded>
    </>
  );
}

/** Servers without tokens have links without one. */
function AskForCode() {
  const [code, setCode] = useState('');
  return (
    <form
      class="join card"
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim() !== '') location.href = linkTo('join', code.trim());
      }}
    >
      <h1>{tRoom('join.title')}</h1>
      <label>
        {tRoom('rooms.code')}
        <input required value={code} onInput={(event) => setCode(event.currentTarget.value)} />
      </label>
      <button type="submit" class="filled">
        {tRoom('join.next')}
      </button>
    </form>
  );
}

function WhyOver({ reason, message }: { reason: string; message: string }) {
  return (
    <p class={`notice ${reason === 'left' ? '' : 'warning'}`} role="status">
      {tRoomOr(`join_over.${reason}`, message === '' ? reason : message)}
    </p>
  );
}

/** The language of the browser, in its short form. */
const ownLanguage = (): string => navigator.language.split('-', 1)[0]?.toLowerCase() ?? 'en';

function Form({ room, onJoin }: { room: RoomView; onJoin: (wishes: Wishes) => void }) {
  const grant = identity.value?.room;
  const obstacle = findObstacle();
  const isListenerOnly = grant?.role === 'listener' || obstacle !== undefined;
  const [name, setName] = useState('');
  const [language, setLanguage] = useState(grant?.language ?? ownLanguage());
  const [isListening, setListening] = useState(false);
  const [hasVoice, setVoice] = useState(true);
  const spoken = languagesOf(room);
  const source = room.members.find(({ speaks }) => speaks !== undefined && speaks !== 'auto')?.speaks ?? 'en';
  const offered = useResource<OfferedLanguages>(`v1/languages?${new URLSearchParams({ src: source })}`);
  const targets = offered.data?.languages ?? [];
  const options = [...new Set([...spoken, ...targets.map(({ lang }) => lang), ...USUAL])].sort();
  const isListener = isListenerOnly || isListening;
  const isUnserved =
    targets.length > 0 && language !== source && !targets.some(({ lang }) => lang === language);

  return (
    <form
      class="join card"
      onSubmit={(event) => {
        event.preventDefault();
        onJoin({ code: room.room_code, name: name.trim(), language, isListener, hasVoice });
      }}
    >
      <h1>{room.title ?? tRoom('join.title')}</h1>
      {room.recorded && <p class="notice">{tRoom('join.recorded')}</p>}
      {room.locked && <p class="notice warning">{tRoom('join.locked')}</p>}
      <label>
        {tRoom('join.name')}
        <input
          required
          autocomplete="name"
          value={name}
          maxLength={60}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <Choice label={tRoom('join.language')} value={language} options={options} onChange={setLanguage} />
      {isUnserved && (
        <p class="notice warning" role="status">
          {tRoom('join.unserved', { language: languageName(language) })}
        </p>
      )}
      {offered.error !== undefined && <Failure error={offered.error} />}
      <fieldset>
        <legend>{tRoom('join.part')}</legend>
        <label class="check">
          <input
            type="radio"
            name="part"
            checked={!isListener}
            disabled={isListenerOnly}
            onChange={() => setListening(false)}
          />
          {tRoom('join.speak')}
        </label>
        <label class="check">
          <input type="radio" name="part" checked={isListener} onChange={() => setListening(true)} />
          {tRoom('join.listen')}
        </label>
        {grant?.role === 'listener' ? (
          <p class="quiet">{tRoom('join.listener_link')}</p>
        ) : (
          obstacle !== undefined && <p class="notice warning">{tTalk(`talk.${obstacle}`)}</p>
        )}
      </fieldset>
      <label class="check">
        <input
          type="checkbox"
          checked={hasVoice}
          onChange={(event) => setVoice(event.currentTarget.checked)}
        />
        {tRoom('join.voice')}
      </label>
      <button type="submit" class="filled">
        {tRoom('join.enter')}
      </button>
    </form>
  );
}

/** A link that has expired, or was cut when it was copied. */
export const NoInvitation = () => <Empty>{tRoom('join.no_invitation')}</Empty>;
