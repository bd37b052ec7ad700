/** A button for an order to the server: asks for confirmation and a reason, then shows what the server answered. */
import { useRef, useState } from 'preact/hooks';
import { mayAct } from '../data/credentials.ts';
import { type RequestError, type RequestOptions, request } from '../data/request.ts';
import { t } from '../texts/text.ts';
import { Failure } from './parts.tsx';

export interface Order {
  readonly label: string;
  /** What will happen, for the dialog. */
  readonly explanation: string;
  readonly path: string;
  readonly method?: RequestOptions['method'];
  /** The server records a reason with this order. */
  readonly takesReason?: boolean;
  readonly isDangerous?: boolean;
  readonly onDone?: () => void;
}

export function OrderButton({
  label,
  explanation,
  path,
  method = 'POST',
  takesReason,
  isDangerous,
  onDone,
}: Order) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [error, setError] = useState<RequestError>();
  const [isSending, setSending] = useState(false);
  if (!mayAct.value) return null;

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    try {
      const body = takesReason && reason !== '' ? { reason } : {};
      await request(path, method === 'DELETE' ? { method } : { method, body });
      dialog.current?.close();
      setReason('');
      onDone?.();
    } catch (fault) {
      setError(fault as RequestError);
    } finally {
      setSending(false);
    }
  };

  return (
    <>
      <button type="button" class={isDangerous ? 'danger' : ''} onClick={() => dialog.current?.showModal()}>
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <form onSubmit={(event) => void submit(event)}>
          <h2>{label}</h2>
          <p>{explanation}</p>
          {takesReason && (
            <label>
              {t('order.reason')}
              <input
                value={reason}
                maxLength={500}
                onInput={(event) => setReason(event.currentTarget.value)}
              />
            </label>
          )}
          {error !== undefined && <Failure error={error} />}
          <p class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              {t('action.cancel')}
            </button>
            <button type="submit" class={isDangerous ? 'danger filled' : 'filled'} disabled={isSending}>
              {label}
            </button>
          </p>
        </form>
      </dialog>
    </>
  );
}
