/** Vocabulary: how a node names the model it lacks. Nodes may send anything; the result is bounded. Pure. */

const MAX_ID_CHARS = 128;

/** The id of a service, also under the name that legacy nodes use. */
export const givenModel = (details: Readonly<Record<string, unknown>>): unknown =>
  details.service_id ?? details.model_id;

/** Undefined: no name that could be marked. */
export function namedModel(details: Readonly<Record<string, unknown>>): string | undefined {
  const given = givenModel(details);
  const serviceId = typeof given === 'string' ? given.trim() : '';
  return isModelId(serviceId) ? serviceId : undefined;
}

export const isModelId = (text: string): boolean => isSoundWord(text, MAX_ID_CHARS);

/** No line breaks or control characters, because it is used in logs, labels and keys. */
export const isSoundWord = (text: string, maxChars: number): boolean =>
  text !== '' && text.length <= maxChars && !/\p{C}/u.test(text);
