/** Entries of a page where no size is requested. */
export const PAGE_SIZE = 100;
