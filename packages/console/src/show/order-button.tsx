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
  readonly body?: object;
  /** The server records a reason with this order. */
  readonly takesReason?: boolean;
  /** What that field is called, and where it goes in the body; otherwise it is the reason of an operator. */
  readonly note?: { readonly label: string; readonly toBody: (text: string) => object };
  /** Otherwise: operators. */
  readonly isAllowed?: boolean;
  readonly isDangerous?: boolean;
  /** Beside something that matters more. */
  readonly isPlain?: boolean;
  readonly onDone?: () => void;
}

const OPERATORS_REASON: NonNullable<Order['note']> = {
  label: '',
  toBody: (reason) => (reason === '' ? {} : { reason }),
};

export function OrderButton({
  label,
  explanation,
  path,
  method = 'POST',
  body: given = {},
  takesReason,
  note = OPERATORS_REASON,
  isAllowed = mayAct.value,
  isDangerous,
  isPlain,
  onDone,
}: Order) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [error, setError] = useState<RequestError>();
  const [isSending, setSending] = useState(false);
  if (!isAllowed) return null;

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setSending(true);
    setError(undefined);
    try {
      const body = takesReason ? { ...given, ...note.toBody(reason.trim()) } : given;
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
      <button
        type="button"
        class={isDangerous ? 'danger' : isPlain ? 'plain quiet' : ''}
        onClick={() => dialog.current?.showModal()}
      >
        {label}
      </button>
      <dialog ref={dialog} aria-label={label}>
        <form onSubmit={(event) => void submit(event)}>
          <h2>{label}</h2>
          <p>{explanation}</p>
          {takesReason && (
            <label>
              {note.label === '' ? t('order.reason') : note.label}
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
