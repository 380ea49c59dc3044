/** The rules of direction (docs/architecture.md), as a test: test/architecture/dependencies.spec.ts and `npm run lint:deps`. */
const contexts = [
  'actions',
  'components',
  'sources',
  'subscriptions',
  'webhooks',
  'data-stores',
  'tenancy',
  'events',
  'audit',
  'workflows',
  'accounts',
  'notifications',
];
const fromContext = `^libs/(${contexts.join('|')})/`;
// Imports by #libs/ are resolved to the built file: a target may be seen in either place.
const anyContext = `^(?:dist/)?libs/(${contexts.join('|')})/`;
/**
 * The rooms of libs, and which others each may import (docs/adr/0018). A room that is not here fails the rule of the
 * same name. The graph has no cycle: rooms stand below those that import them.
 */
const rooms = {
  // Ground: no framework, no driver. Every room may import async.
  async: [],
  kernel: [],
  'component-model': ['kernel'],
  egress: ['kernel'],
  framing: [],
  // What is around every context and role.
  http: ['kernel'],
  config: ['egress', 'http', 'kernel'],
  telemetry: ['http', 'kernel'],
  'stream-log': ['kernel'],
  due: ['kernel', 'stream-log'],
  sandbox: ['kernel', 'component-model', 'framing'],
  packages: ['kernel', 'component-model', 'egress', 'framing', 'sandbox'],
  expressions: ['component-model', 'framing', 'sandbox'],
  // Bounded contexts.
  tenancy: ['http', 'kernel'],
  audit: ['http', 'kernel'],
  components: ['component-model', 'http', 'kernel'],
  accounts: ['http', 'kernel'],
  sources: ['component-model', 'components', 'data-stores', 'http', 'kernel'],
  actions: ['component-model', 'components', 'data-stores', 'http', 'kernel', 'sources'],
  workflows: ['component-model', 'components', 'http', 'kernel', 'sources'],
  webhooks: ['http', 'kernel', 'stream-log'],
  'data-stores': ['component-model', 'http', 'kernel'],
  subscriptions: ['component-model', 'http', 'kernel', 'sources', 'webhooks'],
  events: ['component-model', 'http', 'kernel', 'sources', 'stream-log'],
  'platform-events': ['accounts', 'component-model', 'kernel', 'stream-log', 'webhooks'],
  notifications: ['http', 'kernel', 'sources', 'tenancy'],
  // Roles.
  scheduling: ['component-model', 'kernel', 'sources', 'stream-log'],
  runner: [
    'actions',
    'component-model',
    'components',
    'due',
    'kernel',
    'sandbox',
    'scheduling',
    'sources',
    'stream-log',
  ],
  ingress: ['component-model', 'http', 'kernel', 'runner', 'sandbox', 'sources', 'stream-log'],
  routing: ['component-model', 'due', 'kernel', 'notifications', 'sources', 'stream-log', 'subscriptions', 'webhooks'],
  delivery: ['due', 'kernel', 'stream-log'],
  mail: ['due', 'kernel', 'stream-log'],
  // Adapters of the ports that the above declare.
  engines: [
    'component-model',
    'config',
    'data-stores',
    'due',
    'kernel',
    'runner',
    'scheduling',
    'stream-log',
    'tenancy',
  ],
  // What the apps are put together from.
  hosting: ['config', 'http', 'kernel', 'sandbox', 'stream-log', 'telemetry'],
  cluster: ['ingress', 'kernel', 'stream-log', 'telemetry'],
  composition: [
    ...['accounts', 'actions', 'audit', 'cluster', 'component-model', 'components', 'config', 'data-stores'],
    ...['delivery', 'due', 'egress', 'events', 'expressions', 'framing', 'hosting', 'http', 'ingress'],
    ...[
      'kernel',
      'mail',
      'notifications',
      'packages',
      'platform-events',
      'routing',
      'runner',
      'sandbox',
      'scheduling',
      'sources',
      'stream-log',
      'subscriptions',
    ],
    ...['telemetry', 'tenancy', 'webhooks', 'workflows'],
  ],
  archive: [
    'cluster',
    'composition',
    'config',
    'data-stores',
    'delivery',
    'due',
    'kernel',
    'routing',
    'runner',
    'sources',
    'stream-log',
    'tenancy',
    'webhooks',
  ],
};
const tests = '(\\.spec|\\.int-spec|\\.e2e-spec|\\.suite)\\.(ts|js)$|/testing/';
const drivers = [
  '@photostructure/sqlite',
  '@platformatic/kafka',
  'better-sqlite3',
  'mongodb',
  'kafkajs',
  '@eventstore/db-client',
  'node:sqlite',
];
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'nothing-imports-an-app',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(dist/)?apps/' },
    },
    {
      name: 'only-specs-import-the-test-folder',
      severity: 'error',
      from: { path: '^libs/', pathNot: tests },
      to: { path: '^(dist/)?test/' },
    },
    {
      name: 'apps-do-not-import-each-other',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^(dist/)?apps/', pathNot: '^(dist/)?apps/$1/' },
    },
    {
      name: 'the-index-is-the-door-of-the-sandbox',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: ['^libs/sandbox/', tests] },
      to: { path: '^(dist/)?libs/sandbox/', pathNot: '^(dist/)?libs/sandbox/index\\.(ts|js)$' },
    },
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `what-${room}-imports`,
      severity: 'error',
      from: { path: `^libs/${room}/`, pathNot: tests },
      to: { path: '^(dist/)?libs/', pathNot: `^(dist/)?libs/(${[room, 'async', ...allowed].join('|')})/` },
    })),
    {
      name: 'every-folder-is-a-room',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${Object.keys(rooms).join('|')})/` },
      to: {},
    },
    {
      name: 'a-context-sees-only-what-another-publishes',
      severity: 'error',
      from: { path: fromContext, pathNot: tests },
      to: { path: anyContext, pathNot: ['^(dist/)?libs/$1/', '^(dist/)?libs/[^/]+/published\\.(ts|js)$'] },
    },
    {
      name: 'the-data-plane-sees-only-what-contexts-publish',
      severity: 'error',
      from: { path: '^libs/(runner|routing|delivery|ingress|scheduling|platform-events|mail)/', pathNot: tests },
      to: { path: anyContext, pathNot: '^(dist/)?libs/[^/]+/published\\.(ts|js)$' },
    },
    {
      name: 'the-runner-knows-no-kind-of-executable',
      severity: 'error',
      from: { path: '^libs/runner/[^/]+$', pathNot: tests },
      to: { path: '^(dist/)?libs/runner/source/' },
    },
    {
      name: 'no-nest-in-the-core',
      severity: 'error',
      from: {
        path: '^libs/(kernel|component-model|stream-log|sandbox|expressions|runner|routing|delivery|ingress|scheduling|engines|egress)/|/domain/|/read-models/',
        pathNot: tests,
      },
      to: { path: '(^|/)node_modules/@nestjs/|^@nestjs/' },
    },
    {
      name: 'code-of-authors-stays-in-the-jail',
      severity: 'error',
      from: { path: '^(libs|apps|test)/', pathNot: '^libs/expressions/child/' },
      to: { path: '(^|/)node_modules/(vm2|acorn|yaml)(/|$)|^(vm2|acorn|yaml)$|^(dist/)?libs/expressions/child/' },
    },
    {
      name: 'drivers-stay-in-engines',
      severity: 'error',
      from: { pathNot: '^libs/engines/|^test/(load|engines)/' },
      to: { path: drivers.map((name) => `(^|/)node_modules/${name}(/|$)|^${name}$`).join('|') },
    },
    {
      name: 'production-code-imports-no-test',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: tests + '|^libs/engines/conformance/' },
      to: { path: tests },
    },
    {
      name: 'no-vendor-packages',
      severity: 'error',
      from: {},
      to: { path: '(^|/)node_modules/@pipedream/' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: ['node_modules', '^dist/'] },
    exclude: { path: '^(examples|test/fixtures|test/components/[^/]+)/' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], conditionNames: ['import', 'default'] },
  },
};
