/** Parameters of every list, by name to description. */
export const LISTED: Readonly<Record<string, string>> = {
  limit: 'Page size, 1 to 100',
  after: 'Cursor: what follows this item',
  before: 'Cursor: what precedes this item',
};

/** Parameters of every route that answers with data. */
export const FIELDS: Readonly<Record<string, string>> = {
  include: 'Comma-separated fields of `data` to answer with; default all',
  exclude: 'Comma-separated fields of `data` to leave out',
};

/** Parameters of every route that needs an API key. */
export const WORKSPACE: Readonly<Record<string, string>> = {
  workspace_id:
    'The workspace in which the operation takes effect, one of the caller; what is outside of it is not found',
  org_id: 'Another name of workspace_id',
};
