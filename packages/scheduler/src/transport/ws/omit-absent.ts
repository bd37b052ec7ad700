/** Absent optional fields are omitted, in our own records as on the wire: an explicit undefined is neither. Pure. */
export type Present<Fields> = { [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

export function omitAbsent<Fields extends object>(fields: Fields): Present<Fields> {
  const present: Present<Fields> = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) present[key] = value as Exclude<Fields[typeof key], undefined>;
  }
  return present;
}
