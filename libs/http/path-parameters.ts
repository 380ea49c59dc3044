/** What the first parameter of a path names, by the segment before it. */
const OWNERS: Readonly<Record<string, string>> = {
  accounts: '`apn_…`',
  api_keys: '`key_…`',
  apps: 'Name slug of an app',
  audit: 'Id of the resource, of any kind',
  components: 'Component id (`sc_…`) or key',
  data_stores: '`ds_…`',
  deliveries: '`dlv_…`',
  events: 'Id of the event: `<epoch milliseconds>-<sequence>`',
  members: '`u_…`',
  orgs: '`o_…`, a workspace',
  records: 'Key of the record',
  registry: 'Key of the component, with `@version` for another than the newest',
  replay: '`rpl_…`',
  runs: '`run_…`, or of a source `inv_…`',
  sources: '`dc_…` or name slug',
  steps: 'Namespace of the step',
  subscriptions: '`sub_…`',
  variables: 'Name of the variable',
  versions: 'Number of a version',
  webhooks: '`wh_…`',
  workflows: '`p_…`, or `ext:` and an external id',
  workspaces: '`o_…`',
};

/** Description of a parameter in the path of a route; undefined for a kind of resource that has none. */
export const pathParameterText = (path: string, name: string): string | undefined => {
  const segments = path.split('/');
  const text = OWNERS[segments[segments.indexOf(`{${name}}`) - 1] ?? ''];
  if (text === undefined || name !== 'idOrSlug' || text.startsWith('`')) return text;
  return `Id or ${text.charAt(0).toLowerCase()}${text.slice(1)}`;
};
