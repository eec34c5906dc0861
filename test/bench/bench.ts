/** The figures of a bench: keys of its JSON line, lower snake case, unit last. */
export type Figures = Readonly<Record<string, unknown>>;

/** Prints its tables as it goes, and returns its figures. `args` are those after the bench's name. */
export type Bench = (args: readonly string[]) => Promise<Figures>;
