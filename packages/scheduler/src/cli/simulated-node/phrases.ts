/** The sentences of the simulation in several languages, so that translations make sense. */

const PHRASES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'Good morning, how are you?',
    'The meeting starts at nine.',
    'Where is the station?',
    'Thank you for your help.',
    'I would like a coffee, please.',
  ],
  zh: ['早上好，你好吗？', '会议九点开始。', '车站在哪里？', '谢谢你的帮助。', '请给我一杯咖啡。'],
  de: [
    'Guten Morgen, wie geht es Ihnen?',
    'Die Sitzung beginnt um neun.',
    'Wo ist der Bahnhof?',
    'Danke für Ihre Hilfe.',
    'Ich hätte gern einen Kaffee.',
  ],
  fr: [
    'Bonjour, comment allez-vous ?',
    'La réunion commence à neuf heures.',
    'Où est la gare ?',
    'Merci pour votre aide.',
    'Je voudrais un café, s’il vous plaît.',
  ],
  es: [
    'Buenos días, ¿cómo está?',
    'La reunión empieza a las nueve.',
    '¿Dónde está la estación?',
    'Gracias por su ayuda.',
    'Quisiera un café, por favor.',
  ],
  ja: [
    'おはようございます、お元気ですか。',
    '会議は九時に始まります。',
    '駅はどこですか。',
    '手伝ってくれてありがとう。',
    'コーヒーをお願いします。',
  ],
  ko: [
    '좋은 아침입니다, 잘 지내세요?',
    '회의는 아홉 시에 시작합니다.',
    '역이 어디에 있습니까?',
    '도와주셔서 감사합니다.',
    '커피 한 잔 주세요.',
  ],
};

/** How many sentences there are. */
export const PHRASE_COUNT = 5;

/** The number of a sentence that the simulation knows in that language. */
export function phraseNumber(language: string, text: string): number | undefined {
  const number = PHRASES[baseOf(language)]?.indexOf(text.trim()) ?? -1;
  return number === -1 ? undefined : number;
}

/** The sentence of that number in that language; other languages get English with their name before it. */
export function phrase(language: string, number: number): string {
  const base = baseOf(language);
  const known = Object.hasOwn(PHRASES, base) ? PHRASES[base] : undefined;
  const text = (known ?? PHRASES.en)?.[number % PHRASE_COUNT] ?? '';
  return known === undefined ? `[${base}] ${text}` : text;
}

const baseOf = (language: string): string => language.toLowerCase().split('-')[0] ?? '';
