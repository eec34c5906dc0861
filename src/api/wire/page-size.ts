/** Entries of a page where no size is asked for. */
export const PAGE_SIZE = 100;
