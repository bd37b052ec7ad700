/** The choice of the languages of a conversation. */
import { languageName } from '../show/format.ts';
import { t } from '../texts/text.ts';
import { serviceOf, type Targets } from './offered.ts';
import { tTalk } from './talk-text.ts';

/** Before anybody speaks: that there will be no sound, or no translation. */
export function ServiceNote(props: {
  readonly offer: Targets;
  readonly source: string;
  readonly target: string;
}) {
  const { offer, source, target } = props;
  const service = serviceOf(offer, target);
  if (service === 'text_only')
    return (
      <p class="notice" role="status">
        {tTalk('talk.text_only', { language: languageName(target) })}
      </p>
    );
  if (service !== 'none') return null;
  return (
    <p class="notice warning" role="status">
      {tTalk('talk.unserved', { source: languageName(source), target: languageName(target) })}
    </p>
  );
}

export function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  /** Of these the option says so. */
  readonly textOnly?: readonly string[];
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
            {props.textOnly?.includes(option) === true && ` (${t('languages.text_only')})`}
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
      <legend>{tTalk('talk.further')}</legend>
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
