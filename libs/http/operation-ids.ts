/** Names that do not follow from method and path, by both. */
const NAMED: Readonly<Record<string, string>> = {
  'get /v1/users/me': 'getMe',
  'get /v1/audit/{id}': 'listResourceAudit',
  'delete /v1/subscriptions': 'deleteSubscription',
  'delete /v1/auto_subscriptions': 'deleteAutoSubscription',
  'get /v1/components/registry': 'listRegistryComponents',
  'get /v1/components/registry/{key}': 'getRegistryComponent',
  'get /v1/components/search': 'searchComponents',
  'post /v1/components/configure': 'listPropOptions',
  'post /v1/components/props': 'listComponentProps',
  'post /v1/subscriptions/{id}/replay': 'startSubscriptionReplay',
  'delete /v1/subscriptions/{id}/replay': 'cancelSubscriptionReplay',
  'post /v1/sources/{idOrSlug}/sample_emit': 'emitSampleEvent',
  'post /v1/apps/{slug}/events': 'sendAppEvent',
  'get /v1/workflows/schema.json': 'getWorkflowSchema',
};

const VERBS: Readonly<Record<string, string>> = { get: 'get', post: 'create', put: 'update', delete: 'delete' };
/** Last segments that name an action. Their first word is the verb. */
const ACTIONS: ReadonlySet<string> = new Set(['run', 'redeliver', 'regenerate_signing_key', 'validate']);

/**
 * Name of a route as generated clients call their method: `GET /v1/sources/{id}/$errors/event_summaries` is
 * `listSourceErrorEventSummaries`, and `PUT /v1/sources/{id}` is `updateSource`.
 */
export const operationIdOf = (method: string, path: string, isList: boolean): string => {
  const named = NAMED[`${method} ${path}`];
  if (named !== undefined) return named;
  const segments = path.replace('/v1/users/me/', '/v1/my/').split('/').filter(Boolean);
  if (segments[0] === 'v1') segments.shift();
  const isParameter = (segment = ''): boolean => segment.startsWith('{');
  const last = segments.at(-1) ?? '';
  const isAction = ACTIONS.has(last);
  const parts = isAction ? segments.slice(0, -1) : segments;
  const words = parts.flatMap((segment, i) => {
    if (isParameter(segment)) return [];
    const isPlural = i === parts.length - 1 && (isAction ? parts.length > 1 : method !== 'post');
    return [isPlural ? segment : singular(segment)];
  });
  if (isAction) {
    const [verb = '', ...object] = last.split('_');
    return camel([verb, ...words, ...object]);
  }
  if (last === 'sse') return camel(['stream', ...words.slice(0, -1), 'events']);
  if (last === 'export') return camel(['export', ...words.slice(0, -1)]);
  return camel([isList ? 'list' : (VERBS[method] ?? method), ...words]);
};

const singular = (segment: string): string => {
  if (segment.endsWith('ies')) return `${segment.slice(0, -3)}y`;
  return segment.endsWith('s') ? segment.slice(0, -1) : segment;
};

const camel = (words: readonly string[]): string =>
  words
    .flatMap((word) => word.replace(/\W/g, '').split('_'))
    .map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
