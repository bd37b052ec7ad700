/** The parsed form of a message: null means absent. */
export const withoutNulls = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, field) => (field === null ? undefined : field));
