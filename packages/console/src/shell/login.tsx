/** Asks for a token. It stays in this tab; a link with #token=… does the same. */
import { useState } from 'preact/hooks';
import { logIn } from '../data/credentials.ts';
import { t } from '../texts/text.ts';

export function Login({ why }: { why: 'missing' | 'refused' }) {
  const [given, setGiven] = useState('');
  return (
    <form
      class="login card"
      onSubmit={(event) => {
        event.preventDefault();
        if (given.trim() !== '') logIn(given.trim());
      }}
    >
      <h1>{t('login.title')}</h1>
      <p>{t(why === 'refused' ? 'login.refused' : 'login.missing')}</p>
      <label>
        {t('login.token')}
        <input
          type="password"
          autocomplete="current-password"
          required
          value={given}
          onInput={(event) => setGiven(event.currentTarget.value)}
        />
      </label>
      <p class="buttons">
        <button type="submit" class="filled">
          {t('login.in')}
        </button>
      </p>
      <p class="quiet">{t('login.how')}</p>
    </form>
  );
}
