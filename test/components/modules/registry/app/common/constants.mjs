export const PAGE = 3;
