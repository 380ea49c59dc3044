import { afterAll, describe } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { useStandalone } from '#test/harness/instance.js';
import { Author, type Attempt } from './mistakes/author.js';
import { defineMistakes, type Mistake } from './mistakes/mistake.js';

/** A registry without packages. */
const registry = createServer((_request, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
await once(registry, 'listening');
afterAll(() => new Promise((resolve) => registry.close(resolve)));

const SLUICE_NPM_REGISTRY = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
const author = new Author(useStandalone({ env: { SLUICE_RUN_TIMEOUT_S: '2', SLUICE_NPM_REGISTRY } }));

const row = (mistake: string, code: string, attempt: Attempt = {}): Mistake => ({
  mistake,
  reads: () => author.reads(code, attempt),
});

/** A source on HTTP, with the given members beside its props. */
const http = (
  members: string,
  props = `http: '$.interface.http', db: '$.service.db'`,
  name = `name: 'Orders',`,
): string => `export default {\n  ${name}\n  version: '1.0.0',\n  props: { ${props} },\n  ${members}\n};\n`;
const CUSTOM = `http: { type: '$.interface.http', customResponse: true }`;

const code: readonly Mistake[] = [
  row('an empty file', ' '),
  row('a syntax error', http('run(event) { this.$emit(event.body }')),
  row('code that throws as it is loaded', `const key = process.env.KEY.trim();\n${http('run() {}')}`),
  row('nothing is exported', `const source = { name: 'Orders', run() {} };\n`),
  row('a function is exported', `export default async function run(event) { this.$emit(event); }\n`),
  row('a class is exported', `export default class Orders { run() {} }\n`),
  row('a text is exported', `export default 'orders';\n`),
  row('a list is exported', `export default [{ name: 'Orders' }];\n`),
  row('named exports in place of a default', `export const name = 'Orders';\nexport function run() {}\n`),
  row('a package that is not there', `import _ from 'lodash';\n${http('run() {}')}`),
  row('a file that was not uploaded', `import { load } from './load.mjs';\n${http('run() {}')}`),
  row('an export that a file does not have', `import { load } from './load.mjs';\n${http('run() { load(); }')}`, {
    body: { files: { 'load.mjs': 'export const read = 1;' } },
  }),
  row('a path that leaves the upload', http('run() {}'), { body: { files: { '../load.mjs': '' } } }),
  row('code that never ends as it is loaded', `for (;;);\n${http('run() {}')}`),
  row('an app file', `export default { type: 'app', app: 'shop', methods: {} };\n`),
  row('an action', `export default { type: 'action', name: 'Send', version: '1.0.0', async run() {} };\n`),
  row('neither run nor an interface', `export default { name: 'Orders', version: '1.0.0', props: {} };\n`),
  row('run is a number', http('run: 5,')),
  row('run is misspelt', http('rnu() {},', `db: '$.service.db'`)),
  row('a hook that is no function', http('hooks: { activate: true }, run() {}')),
  row('a hook of another name', http('hooks: { actvate() {} }, run() {}')),
  row('a hook outside hooks', http('activate() {}, run() {}')),
  row('a method that is no function', http('methods: { url: 5 }, run() {}')),
  row('methods outside methods', http('method: { url() {} }, run() { this.url(); }')),
  row(
    'prop for props',
    `export default { name: 'Orders', version: '1.0.0', prop: { http: '$.interface.http' }, run() {} };\n`,
  ),
  row('dedup for dedupe', http(`dedup: 'unique', run() {}`)),
  row('a dedupe that there is not', http(`dedupe: 'uniqe', run() {}`)),
  row('props as a list', http('run() {}', '').replace('props: {  }', `props: ['http']`)),
];

const props: readonly Mistake[] = [
  row('a misspelt interface', http('run() {}', `http: '$.interface.htpp'`)),
  row('a misspelt service', http('run() {}', `http: '$.interface.http', db: '$.servce.db'`)),
  row('a misspelt type', http('run() {}', `http: '$.interface.http', url: { type: 'sting' }`)),
  row('a prop without a type', http('run() {}', `http: '$.interface.http', url: { label: 'URL' }`)),
  row('a prop that is a number', http('run() {}', `http: '$.interface.http', url: 5`)),
  row(
    'an apphook whose appProp names no app',
    http('run() {}', `chat: { type: 'app', app: 'chat' }, hook: { type: '$.interface.apphook', appProp: 'chta' }`),
  ),
  row(
    'eventNames that returns a text',
    http(
      'run() {}',
      `chat: { type: 'app', app: 'chat' }, hook: { type: '$.interface.apphook', appProp: 'chat', eventNames() { return 'message'; } }`,
    ),
  ),
  row('optinal for optional', http('run() {}', `http: '$.interface.http', url: { type: 'string', optinal: true }`)),
  row('defualt for default', http('run() {}', `http: '$.interface.http', url: { type: 'string', defualt: 'x' }`)),
  row(
    'customresponse for customResponse',
    http('run() {}', `http: { type: '$.interface.http', customresponse: true }`),
  ),
  row('a min above its max', http('run() {}', `http: '$.interface.http', size: { type: 'integer', min: 5, max: 1 }`)),
  row(
    'a default outside the options',
    http('run() {}', `http: '$.interface.http', size: { type: 'string', options: ['s', 'm'], default: 'xl' }`),
  ),
  row(
    'a default of another type',
    http('run() {}', `http: '$.interface.http', size: { type: 'integer', default: 'many' }`),
  ),
  row(
    'options that are a text',
    http('run() {}', `http: '$.interface.http', size: { type: 'string', options: 's, m' }`),
  ),
  row(
    'a secret that is an integer',
    http('run() {}', `http: '$.interface.http', pin: { type: 'integer', secret: true }`),
  ),
  row('a required prop without a value', http('run() {}', `http: '$.interface.http', url: { type: 'string' }`)),
  row('a text for an integer', http('run() {}', `http: '$.interface.http', size: { type: 'integer' }`), {
    body: { configured_props: { size: 'many' } },
  }),
  row('a value below min', http('run() {}', `http: '$.interface.http', size: { type: 'integer', min: 5 }`), {
    body: { configured_props: { size: 1 } },
  }),
  row(
    'a value outside the options',
    http('run() {}', `http: '$.interface.http', size: { type: 'string', options: ['s', 'm'] }`),
    {
      body: { configured_props: { size: 'xl' } },
    },
  ),
  row(
    'a value for a misspelt prop',
    http('run() {}', `http: '$.interface.http', url: { type: 'string', optional: true }`),
    {
      body: { configured_props: { ulr: 'https://example.com' } },
    },
  ),
  row(
    'a required prop whose name is misspelt in the request',
    http('run() {}', `http: '$.interface.http', url: { type: 'string' }`),
    {
      body: { configured_props: { ulr: 'https://example.com' } },
    },
  ),
  row('a timer without a time', http('run() {}', `timer: '$.interface.timer'`)),
  row(
    'a timer of 5 seconds',
    http('run() {}', `timer: { type: '$.interface.timer', default: { intervalSeconds: 5 } }`),
  ),
  row('a timer with interval for intervalSeconds', http('run() {}', `timer: '$.interface.timer'`), {
    body: { configured_props: { timer: { interval: 60 } } },
  }),
  row(
    'a cron that there is not',
    http('run() {}', `timer: { type: '$.interface.timer', default: { cron: '61 * * * *' } }`),
  ),
  row(
    'a prop and a method of one name',
    http('methods: { url() {} }, run() {}', `http: '$.interface.http', url: { type: 'string', default: 'x' }`),
  ),
  row('21 endpoints', http('run() {}', Array.from({ length: 21 }, (_, n) => `h${n}: '$.interface.http'`).join(', '))),
  row(
    'additionalProps that throws',
    http(
      `additionalProps() { throw Object.assign(new Error('no such project'), { name: 'ConfigurationError' }); }, run() {}`,
    ),
  ),
  row('a data store without a value', http('run() {}', `http: '$.interface.http', store: { type: 'data_store' }`)),
  row('an app without an account', http('run() {}', `http: '$.interface.http', shop: { type: 'app', app: 'shop' }`)),
  row(
    'an account that there is not',
    http('run() {}', `http: '$.interface.http', shop: { type: 'app', app: 'shop' }`),
    {
      body: { configured_props: { shop: { authProvisionId: 'apn_1234567' } } },
    },
  ),
];

const onErrors: Attempt = { post: {}, channel: '$errors' };
const onLogs: Attempt = { post: {}, channel: '$logs' };

const runs: readonly Mistake[] = [
  row('run throws', http(`run() {\n    throw new TypeError('no such order');\n  },`), onErrors),
  row('run throws a text', http(`run() { throw 'no such order'; },`), onErrors),
  row(
    'run rejects with a cause',
    http(`async run() { throw new Error('not stored', { cause: new Error('disk full') }); },`),
    onErrors,
  ),
  row('a method that there is not', http(`run() { this.load(); },`), onErrors),
  row('a prop that was not declared', http(`run() { this.shop.orders(); },`), onErrors),
  row(
    'run awaits what never comes',
    http(`async run() { await new Promise((resolve) => setTimeout(resolve, 60_000)); },`),
    onErrors,
  ),
  row('run spins', http(`run() { for (;;); },`), onErrors),
  row(
    'run fills its memory',
    http(`run() { const all = []; for (;;) all.push(new Array(4_000_000).fill(all.length)); },`),
    onErrors,
  ),
  row('the process is ended', http(`run() { process.exit(3); },`), onErrors),
  row('fetch of a private address', http(`async run() { await fetch('http://10.0.0.1/'); },`), onErrors),
  row('fetch of a closed port', http(`async run() { await fetch('http://127.0.0.1:2/'); },`), onErrors),
  row('fetch of a name that there is not', http(`async run() { await fetch('http://orders.invalid/'); },`), onErrors),
  row(
    'a file outside /tmp',
    http(`async run() { (await import('node:fs')).writeFileSync('/orders.json', '{}'); },`),
    onErrors,
  ),
  row('a program started', http(`async run() { (await import('node:child_process')).execSync('ls'); },`), onErrors),
  row('emit of nothing', http(`run() { this.$emit(); },`), onLogs),
  row('emit of a Map', http(`run() { this.$emit(new Map([['id', 1]])); },`), onLogs),
  row('emit of an Error', http(`run() { this.$emit(new Error('late')); },`), onLogs),
  row('emit of a function', http(`run() { this.$emit({ id: 1, next() {} }); },`), onLogs),
  row('emit of a circle', http(`run() { const a = {}; a.a = a; this.$emit(a); },`), onErrors),
  row('emit of a BigInt', http(`run() { this.$emit({ id: 1n }); },`), onErrors),
  row('emit with a text as metadata', http(`run() { this.$emit({}, 'order-1'); },`), onLogs),
  row('emit with summery for summary', http(`run() { this.$emit({}, { id: 1, summery: 'Order 1' }); },`), onLogs),
  row('emit on $errors', http(`run() { this.$emit({}, '$errors'); this.$emit({}, { name: '$errors' }); },`), onErrors),
  row('delivery_ts as a text of a date', http(`run() { this.$emit({}, { delivery_ts: '2030-01-01' }); },`), onErrors),
  row('dedupe without an id', http(`dedupe: 'unique', run() { this.$emit({}); },`), onLogs),
  row('greatest with a text as id', http(`dedupe: 'greatest', run() { this.$emit({}, { id: 'order' }); },`), onLogs),
  row(
    'a promise that nobody awaits, then emit',
    http(`run() { new Promise((resolve) => setTimeout(resolve, 50)).then(() => this.$emit({})); },`),
    onLogs,
  ),
  row('an emit in a timer', http(`run() { setTimeout(() => this.$emit({}), 50); },`), onLogs),
  row(
    'an async forEach',
    http(
      `run() { [1, 2].forEach(async (n) => { await new Promise((r) => setTimeout(r, 50)); this.$emit({ n }); }); },`,
    ),
    onLogs,
  ),
  row('a rejection that nobody awaits', http(`run() { Promise.reject(new Error('lost')); },`), onLogs),
  row('a throw in a timer', http(`run() { setTimeout(() => { throw new Error('late'); }, 50); },`), onLogs),
  row('db.set after run', http(`run() { setTimeout(() => this.db.set('n', 1), 50); },`), onLogs),
  row('a value too large for the db', http(`run() { this.db.set('n', 'x'.repeat(70_000)); },`), onErrors),
  row('respond that is never called', http('run() {}', CUSTOM), onLogs),
  row(
    'respond called twice',
    http(`run() { this.http.respond({ status: 200 }); this.http.respond({ status: 201 }); },`, CUSTOM),
    onLogs,
  ),
  row('respond without customResponse', http(`run() { this.http.respond({ status: 200 }); },`), onLogs),
  row(
    'respond with statusCode',
    http(`run() { this.http.respond({ statusCode: 201, body: 'ok' }); },`, CUSTOM),
    onLogs,
  ),
  row('respond with a status of 9999', http(`run() { this.http.respond({ status: 9999 }); },`, CUSTOM), onErrors),
  row('respond after run', http(`run() { setTimeout(() => this.http.respond({ status: 200 }), 50); },`, CUSTOM), {
    ...onLogs,
    lines: 2,
  }),
];

const hooks: readonly Mistake[] = [
  row(
    'deploy throws',
    http(`hooks: {\n    async deploy() {\n      throw new Error('no such list');\n    },\n  },\n  run() {},`),
  ),
  row('activate calls a method that there is not', http(`hooks: { activate() { this.register(); } }, run() {},`)),
  row(
    'activate fetches a private address',
    http(`hooks: { async activate() { await fetch('http://10.0.0.1/'); } }, run() {},`),
  ),
  row(
    'deploy throws several errors',
    http(
      `hooks: { deploy() { throw new AggregateError([new Error('first'), new Error('second')], 'two failed'); } }, run() {},`,
    ),
  ),
];

describe('code', () => defineMistakes('Code', code));
describe('props', () => defineMistakes('Props', props));
describe('runs', () => defineMistakes('Runs', runs));
describe('hooks', () => defineMistakes('Hooks', hooks));
