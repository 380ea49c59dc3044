export const HTTP = `props: { http: '$.interface.http' },`;
/** A component with one more prop and nothing else that could cause a warning. */
const prop = (definition: string): string => `props: { http: '$.interface.http', p: ${definition} }, run() {}`;

export const KEYS =
  'allowed are name, key, version, description, type, props, methods, hooks, dedupe, run, additionalProps, annotations';
const PROP_KEYS =
  'allowed are type, label, description, optional, default, options, min, max, secret, propDefinition, customResponse, static, app, disabled, hidden, readOnly, useQuery, reloadProps, withLabel, remote, sync, appProp, alertType, content, accessMode, eventNames';
const TYPES =
  'allowed are boolean, boolean[], integer, integer[], string, string[], $.discord.channel, $.discord.channel[], object, app, alert, any, data_store, http_request, dir, sql, $.interface.http, $.interface.timer, $.interface.apphook, $.service.db';
const HOOKS = 'allowed are deploy, activate, deactivate';
const TIMER = 'allowed are intervalSeconds, cron, timezone';
const NO_RUN =
  'run is missing, and there is no interface: a source needs the method run, or a prop of type $.interface.http or $.interface.timer whose events it passes on';
const NO_INTERFACE =
  'no prop is an interface: run gets only the events of sources that this source listens to, and those of POST /v1/sources/{id}/run; add a prop of type $.interface.http for requests, or $.interface.timer for a schedule';

/** Members of a component with one slip, and the warning about it. */
export const WARNED: readonly [members: string, code: string, path: string, message: string][] = [
  [
    `${HTTP} verison: '1', run() {}`,
    'misspelt_key',
    'verison',
    `"verison" is not a key of a component: "version" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} dedup: 'unique', run() {}`,
    'misspelt_key',
    'dedup',
    `"dedup" is not a key of a component: "dedupe" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} Hooks: {}, run() {}`,
    'misspelt_key',
    'Hooks',
    `"Hooks" is not a key of a component: "hooks" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} method: {}, run() {}`,
    'misspelt_key',
    'method',
    `"method" is not a key of a component: "methods" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} desciption: 'x', run() {}`,
    'misspelt_key',
    'desciption',
    `"desciption" is not a key of a component: "description" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} rnu() {}`,
    'misspelt_key',
    'rnu',
    `"rnu" is not a key of a component: "run" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `prop: {}, props: { http: '$.interface.http' }, run() {}`,
    'misspelt_key',
    'prop',
    `"prop" is not a key of a component: "props" is probably meant; ${KEYS}; it is ignored`,
  ],
  [
    `${HTTP} hooks: { actvate() {} }, run() {}`,
    'misspelt_key',
    'hooks.actvate',
    `"actvate" is not a hook: "activate" is probably meant; ${HOOKS}; it is never called`,
  ],
  [
    `${HTTP} hooks: { onDeploy() {} }, run() {}`,
    'misspelt_key',
    'hooks.onDeploy',
    `"onDeploy" is not a hook: "deploy" is probably meant; ${HOOKS}; it is never called`,
  ],
  [
    `${HTTP} hooks: { Deactivate() {} }, run() {}`,
    'misspelt_key',
    'hooks.Deactivate',
    `"Deactivate" is not a hook: "deactivate" is probably meant; ${HOOKS}; it is never called`,
  ],
  [
    prop(`{ type: 'string', optinal: true }`),
    'misspelt_key',
    'props.p.optinal',
    `prop "p": "optinal" is not a key of a prop: "optional" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: 'string', lable: 'L', optional: true }`),
    'misspelt_key',
    'props.p.lable',
    `prop "p": "lable" is not a key of a prop: "label" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: 'string', defualt: 'd' }`),
    'misspelt_key',
    'props.p.defualt',
    `prop "p": "defualt" is not a key of a prop: "default" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: 'string', option: ['a'] }`),
    'misspelt_key',
    'props.p.option',
    `prop "p": "option" is not a key of a prop: "options" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: 'string', Secret: true }`),
    'misspelt_key',
    'props.p.Secret',
    `prop "p": "Secret" is not a key of a prop: "secret" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: 'string', required: false }`),
    'unknown_key',
    'props.p.required',
    'prop "p": "required" is not a key of a prop: a prop is required unless it has optional: true',
  ],
  [
    prop(`{ type: 'sting' }`),
    'unknown_prop_type',
    'props.p.type',
    `prop "p": type "sting" is unknown and treated as any; "string" is probably meant; ${TYPES}`,
  ],
  [
    prop(`{ type: 'integr' }`),
    'unknown_prop_type',
    'props.p.type',
    `prop "p": type "integr" is unknown and treated as any; "integer" is probably meant; ${TYPES}`,
  ],
  [
    prop(`'strnig[]'`),
    'unknown_prop_type',
    'props.p.type',
    `prop "p": type "strnig[]" is unknown and treated as any; "string[]" is probably meant; ${TYPES}`,
  ],
  [
    prop(`'rainbow'`),
    'unknown_prop_type',
    'props.p.type',
    `prop "p": type "rainbow" is unknown and treated as any; ${TYPES}`,
  ],
  [
    prop(`{ type: '$.interface.http', customRespones: true }`),
    'misspelt_key',
    'props.p.customRespones',
    `prop "p": "customRespones" is not a key of a prop: "customResponse" is probably meant; ${PROP_KEYS}; it is ignored`,
  ],
  [
    prop(`{ type: '$.interface.timer', default: { intervalSecond: 60 } }`),
    'misspelt_key',
    'props.p.default.intervalSecond',
    `prop "p": "intervalSecond" is not a key of a timer: "intervalSeconds" is probably meant; ${TIMER}; it is ignored`,
  ],
  [
    prop(`{ type: '$.interface.timer', static: { cron: '0 * * * *', timeZone: 'UTC' } }`),
    'misspelt_key',
    'props.p.static.timeZone',
    `prop "p": "timeZone" is not a key of a timer: "timezone" is probably meant; ${TIMER}; it is ignored`,
  ],
  [
    prop(`{ type: 'alert', alertType: 'eror', content: 'c' }`),
    'misspelt_value',
    'props.p.alertType',
    'prop "p": "eror" is not a type of alert: "error" is probably meant; allowed are info, neutral, warning, error',
  ],
  [
    prop(`{ type: 'string', options: [{ lable: 'A', value: 'a' }] }`),
    'misspelt_key',
    'props.p.options',
    'prop "p": "lable" is not a key of an option: "label" is probably meant; allowed are label, value; the value is shown instead',
  ],
  [
    prop(`{ type: 'string', options: ['a', 'b'], default: 'c' }`),
    'wrong_default',
    'props.p.default',
    'prop "p": the default "c" is not among the options: "a", "b"',
  ],
  [
    prop(`{ type: 'integer', min: 1, max: 5, default: 9 }`),
    'wrong_default',
    'props.p.default',
    'prop "p": the default 9 is above max 5: a source without a value is refused',
  ],
  [
    prop(`{ type: 'integer', default: 'many' }`),
    'wrong_default',
    'props.p.default',
    'prop "p": the default "many" is not an integer: a source without a value is refused',
  ],
  [
    prop(`{ type: 'boolean', default: 'yes' }`),
    'wrong_default',
    'props.p.default',
    'prop "p": the default "yes" is not true or false: a source without a value is refused',
  ],
  [
    prop(`{ type: 'integer', min: 5, max: 1, optional: true }`),
    'empty_range',
    'props.p.min',
    'prop "p": min is 5 and max is 1, so no value is allowed: make min at most max',
  ],
  [
    prop(`{ type: 'string', max: 5 }`),
    'ignored_key',
    'props.p.max',
    'prop "p": max is for type integer, not string; it is ignored',
  ],
  [
    prop(`{ type: 'integer', secret: true }`),
    'ignored_key',
    'props.p.secret',
    'prop "p": secret is for type string, not integer; the value is not kept secret',
  ],
  [
    prop(`{ type: 'string', optional: 'true' }`),
    'wrong_kind',
    'props.p.optional',
    'prop "p": optional must be true or false, not string: it is ignored',
  ],
  [
    prop(`{ type: 'string', label: 5 }`),
    'wrong_kind',
    'props.p.label',
    'prop "p": label must be a text, not number: it is ignored',
  ],
  [
    prop(`{ type: '$.interface.apphook' }`),
    'silent_interface',
    'props.p',
    'prop "p": appProp must be the name of a prop of type app (there is none), and is missing, so no event of an app starts run',
  ],
  [
    `props: { chat: { type: 'app', app: 'chat' }, p: { type: '$.interface.apphook', appProp: 'chta' } }, run() {},`,
    'silent_interface',
    'props.p',
    'prop "p": appProp must be the name of a prop of type app (allowed are chat), and "chta" is none, so no event of an app starts run',
  ],
  [`run() {}`, 'no_interface', 'props', NO_INTERFACE],
  [
    `${HTTP} methods: { token: 'abc' }, run() {}`,
    'wrong_kind',
    'methods.token',
    'methods.token must be a function, not string: this.token is that value, and this.token() throws',
  ],
  [
    `${HTTP} methods: { http() {} }, run() {}`,
    'prop_hides_method',
    'props.http',
    '"http" is a prop and a method: this.http is the prop',
  ],
  [`${HTTP} version: true, run() {}`, 'wrong_kind', 'version', 'version must be a text, not boolean: it is ignored'],
  [
    `${HTTP} additionalProps: {}, run() {}`,
    'wrong_kind',
    'additionalProps',
    'additionalProps must be a function, not object: it is ignored',
  ],
  [
    `type: 'action', dedupe: 'unique', run() {}`,
    'ignored_key',
    'dedupe',
    'dedupe is for sources: ignored in an action',
  ],
];

/** Members of a component that is refused, the prop that the reply names, and its text. */
export const REFUSED: readonly [members: string, prop: string | undefined, message: string][] = [
  [
    `prop: { http: '$.interface.http' }`,
    undefined,
    `${NO_RUN}; "prop" is not a key of a component: "props" is probably meant; ${KEYS}`,
  ],
  [`rnu() {}`, undefined, `${NO_RUN}; "rnu" is not a key of a component: "run" is probably meant; ${KEYS}`],
  [
    `type: 'action', rnu() {}`,
    undefined,
    `run is missing: an action needs the method run; "rnu" is not a key of a component: "run" is probably meant; ${KEYS}`,
  ],
  [``, undefined, NO_RUN],
  [`${HTTP} run: 5`, undefined, 'run must be a function, not number: write run() { … }'],
  [
    `${HTTP} hooks: { activate: 'yes' }, run() {}`,
    undefined,
    'hooks.activate must be a function, not string: write activate() { … }',
  ],
  [`${HTTP} hooks: [], run() {}`, undefined, `hooks must be an object of functions, not an array; ${HOOKS}`],
  [`${HTTP} methods: 5, run() {}`, undefined, 'methods must be an object of functions, not number'],
  [
    `${HTTP} dedupe: 'uniqe', run() {}`,
    undefined,
    'dedupe must be "unique", "greatest" or "last", not "uniqe"; "unique" is probably meant',
  ],
  [`type: 'acton', run() {}`, undefined, 'type must be "source" or "action", not "acton"; "action" is probably meant'],
  [
    prop(`'$.interface.htpp'`),
    'p',
    `$.interface.htpp not supported for prop p; "$.interface.http" is probably meant; ${TYPES}`,
  ],
  [prop(`'$.servce.db'`), 'p', `$.servce.db not supported for prop p; "$.service.db" is probably meant; ${TYPES}`],
  [
    prop(`'$.service.db[]'`),
    'p',
    '$.service.db[] not supported for prop p; write $.service.db, which has no array form',
  ],
  [
    prop(`{ tpye: 'string' }`),
    'p',
    `prop "p": type is missing: "tpye" is not a key of a prop: "type" is probably meant; ${PROP_KEYS}`,
  ],
  [
    prop(`{ propDefintion: [] }`),
    'p',
    `prop "p": type is missing: "propDefintion" is not a key of a prop: "propDefinition" is probably meant; ${PROP_KEYS}`,
  ],
  [prop(`{ type: 'app', ap: 'github' }`), 'p', 'prop "p": app is missing: the slug of the app'],
  [
    prop(`{ type: 'app', apps: 'github' }`),
    'p',
    `prop "p": app is missing: the slug of the app; "apps" is not a key of a prop: "app" is probably meant; ${PROP_KEYS}`,
  ],
  [
    prop(`{ type: 'string', options: 'a' }`),
    'p',
    'prop "p": options of type string not supported for prop p: write a list or a function',
  ],
  [
    prop(`{ type: 'string', options: [{ label: 'A', vlaue: 'a' }] }`),
    'p',
    'prop "p": an option must be a text, a number, a boolean, or an object {label, value}: "vlaue" is not a key of an option: "value" is probably meant; allowed are label, value',
  ],
  [
    prop(`{ type: 'integer', min: 5, max: 1 }`),
    'p',
    'prop "p": min is 5 and max is 1, so no value is allowed: make min at most max',
  ],
  [
    prop(`{ type: '$.interface.timer', static: { intervalSecnds: 60 } }`),
    'p',
    `prop "p": static has no time: "intervalSecnds" is not a key of a timer: "intervalSeconds" is probably meant; ${TIMER}`,
  ],
  [
    prop(`{ propDefinition: [{ app: 'a', propDefinitions: { repo: 'string' } }, 'rpeo'] }`),
    'p',
    'prop "p": app "a" has no propDefinition "rpeo"; it has repo; "repo" is probably meant',
  ],
];
