/** A link for guests of one room. With tokens the link contains one that opens this room alone. */
import type { RoomToken, RoomView } from '@lingua/protocol';
import { useRef, useState } from 'preact/hooks';
import { identity } from '../data/credentials.ts';
import { addressOf, type RequestError, request } from '../data/request.ts';
import { linkTo } from '../shell/router.ts';
import { duration, languageName } from '../show/format.ts';
import { Failure } from '../show/parts.tsx';
import { languagesOf } from './caption-log.ts';
import { roomPath } from './room-path.ts';
import { tRoom } from './room-text.ts';

const ROLES = ['speaker', 'listener'] as const;
const HOUR_S = 3_600;
const VALID_HOURS = [1, 8, 24];

export const Invite = ({ room }: { room: RoomView }) => (
  <section class="card">
    <h2>{tRoom('room.invite')}</h2>
    {identity.value?.is_anonymous === true ? (
      <>
        <p class="quiet">{tRoom('room.invite_open')}</p>
        <LinkField link={addressOf('') + linkTo('join', room.room_code).slice('./'.length)} />
      </>
    ) : (
      <MakeLink room={room} />
    )}
  </section>
);

function MakeLink({ room }: { room: RoomView }) {
  const [role, setRole] = useState<(typeof ROLES)[number]>('speaker');
  const [language, setLanguage] = useState('');
  const [hours, setHours] = useState(1);
  const [link, setLink] = useState('');
  const [error, setError] = useState<RequestError>();

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setError(undefined);
    try {
      const body = { role, ...(language !== '' && { language }), expires_in_seconds: hours * HOUR_S };
      const path = roomPath(room.room_id, '/tokens');
      const { token } = await request<RoomToken>(path, { method: 'POST', body });
      setLink(`${addressOf('join.html')}#token=${token}`);
    } catch (fault) {
      setError(fault as RequestError);
    }
  }

  return (
    <>
      <p class="quiet">{tRoom('room.invite_doc')}</p>
      <form class="room-form" onSubmit={(event) => void submit(event)}>
        <label>
          {tRoom('room.role')}
          <select
            value={role}
            onChange={(event) => setRole(event.currentTarget.value === 'listener' ? 'listener' : 'speaker')}
          >
            {ROLES.map((each) => (
              <option key={each} value={each}>
                {tRoom(`room_role.${each}`)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {tRoom('room.hears')}
          <select value={language} onChange={(event) => setLanguage(event.currentTarget.value)}>
            <option value="">{tRoom('room.any_language')}</option>
            {languagesOf(room).map((each) => (
              <option key={each} value={each}>
                {languageName(each)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {tRoom('room.expires')}
          <select value={hours} onChange={(event) => setHours(Number(event.currentTarget.value))}>
            {VALID_HOURS.map((each) => (
              <option key={each} value={each}>
                {duration(each * HOUR_S * 1_000)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">{tRoom('room.make_link')}</button>
      </form>
      {error !== undefined && <Failure error={error} />}
      {link !== '' && <LinkField key={link} link={link} />}
    </>
  );
}

function LinkField({ link }: { link: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [isCopied, setCopied] = useState(false);

  async function copy(): Promise<void> {
    field.current?.select();
    // Without https there is no clipboard; then the link is selected.
    await navigator.clipboard?.writeText(link);
    setCopied(navigator.clipboard !== undefined);
  }

  return (
    <div class="link-field">
      <input ref={field} readOnly aria-label={tRoom('room.link')} value={link} />
      <button type="button" onClick={() => void copy()}>
        {tRoom(isCopied ? 'room.copied' : 'room.copy')}
      </button>
    </div>
  );
}
