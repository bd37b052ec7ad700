/** The languages of a conversation: what the fleet offers, and the choice among it. */
import type { LanguagesReply } from '@lingua/protocol';
import { languageName } from '../show/format.ts';
import { t } from '../texts/text.ts';

/** Offered before the fleet's languages are known, or if this role may not read them. */
const USUAL = ['en', 'zh', 'ja', 'de', 'fr', 'es'];

/** Targets at the start, if they are offered. */
const FIRST = ['zh', 'es', 'en'];

/** All languages of the fleet, and the target: the chosen one, or the first that nodes translate into. Pure. */
export function offered(
  reply: Pick<LanguagesReply, 'cells'> | undefined,
  source: string,
  chosen: string | undefined,
): { readonly languages: readonly string[]; readonly target: string } {
  const cells = reply?.cells.filter(({ nodes }) => nodes > 0) ?? [];
  const spoken = new Set(cells.flatMap(({ src, tgt }) => [src, tgt]));
  const known = [...spoken].filter((language) => language !== 'auto' && language !== 'any').sort();
  const targets = known.filter((language) =>
    cells.some(({ src, tgt }) => src === source && tgt === language),
  );
  const languages = known.length > 1 ? known : USUAL;
  const usual = (targets.length > 0 ? targets : languages).filter((language) => language !== source);
  const preferred = FIRST.find((language) => usual.includes(language)) ?? usual[0] ?? 'en';
  return { languages, target: chosen ?? preferred };
}

export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChange: (value: string) => void;
}) {
  const options = props.options.includes(props.value) ? props.options : [props.value, ...props.options];
  return (
    <label>
      {props.label}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>
            {languageName(option)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** One speaker, several languages: each of these gets the text, too. */
export function Further(props: {
  readonly languages: readonly string[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}) {
  const { chosen, onChange } = props;
  return (
    <fieldset class="talk-option">
      <legend>{t('talk.further')}</legend>
      {props.languages.map((language) => (
        <label key={language}>
          <input
            type="checkbox"
            checked={chosen.includes(language)}
            onChange={({ currentTarget }) => {
              const rest = chosen.filter((each) => each !== language);
              onChange(currentTarget.checked ? [...rest, language] : rest);
            }}
          />
          {languageName(language)}
        </label>
      ))}
    </fieldset>
  );
}
