/** Places of the parts of a state that is kept as numbers of one Float64Array. */
export interface Layout<Part extends string> {
  /** Place of the first number of each part, from the start of the state. */
  readonly at: Readonly<Record<Part, number>>;
  /** Numbers of the whole state. */
  readonly count: number;
}

/** Lays out parts of so many numbers one behind the other, in the order in which they are written. */
export function layout<Part extends string>(lengths: Readonly<Record<Part, number>>): Layout<Part> {
  const at = {} as Record<Part, number>;
  let count = 0;
  for (const part of Object.keys(lengths) as Part[]) {
    at[part] = count;
    count += lengths[part];
  }
  // V8 keeps an object that is filled key by key as a hash table from 13 keys on; its copy is as fast as a literal.
  return { at: { ...at }, count };
}
