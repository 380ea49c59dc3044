/** Most fields of a form, a multipart body or a query of a request to an endpoint. More are refused before parsing. */
export const MAX_FIELDS = 10_000;
