/** Whether a raw value is a table of keys, as opposed to a list, a date or a plain value. Pure. */
export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
