/** Kinds of resources by the prefix of their ids (docs/reference/rest-api.md#id-prefixes). */
export const ID_KINDS = {
  sc: 'a component',
  dc: 'a source',
  ds: 'a data store',
  wh: 'a webhook',
  sub: 'a subscription',
  asub: 'an auto-subscription',
  rpl: 'a replay',
  p: 'a workflow',
  run: 'a run',
  o: 'a workspace',
  u: 'a user',
  key: 'an API key',
  inv: 'an invocation',
  dlv: 'a delivery',
  apn: 'an account',
  app: 'an app',
  var: 'a variable',
} as const;

const ID = /^([a-z]{1,4})_[0-9a-zA-Z]{6,}$/;

/** Kind of the resource that an id names, such as `a webhook`. Undefined for a text that is no id of the API. */
export const kindOfId = (id: string): string | undefined => {
  const prefix = ID.exec(id)?.[1];
  return prefix !== undefined && Object.hasOwn(ID_KINDS, prefix)
    ? ID_KINDS[prefix as keyof typeof ID_KINDS]
    : undefined;
};

/**
 * Hint for an error about an id of another kind than `wanted`, such as `: wh_… is the id of a webhook, and that of a
 * source begins with dc_`. Empty for an id of the right kind and for any other text.
 */
export const otherKindHint = (id: string, wanted: keyof typeof ID_KINDS): string => {
  const kind = kindOfId(id);
  const meant: string = ID_KINDS[wanted];
  if (kind === undefined || kind === meant) return '';
  return `: ${id.slice(0, id.indexOf('_'))}_… is the id of ${kind}, and the id of ${meant} begins with ${wanted}_`;
};
