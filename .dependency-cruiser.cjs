/** The rules of direction (docs/architecture.md), as a test: test/architecture/dependencies.spec.ts and `npm run lint:deps`. */
const contexts = [
  'components',
  'sources',
  'subscriptions',
  'webhooks',
  'tenancy',
  'events',
  'audit',
  'workflows',
  'accounts',
];
const fromContext = `^libs/(${contexts.join('|')})/`;
// Imports by #libs/ are resolved to the built file: a target may be seen in either place.
const anyContext = `^(?:dist/)?libs/(${contexts.join('|')})/`;
const tests = '(\\.spec|\\.int-spec|\\.e2e-spec|\\.suite)\\.(ts|js)$|/testing/';
const drivers = [
  '@photostructure/sqlite',
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
      name: 'kernel-knows-nobody',
      severity: 'error',
      from: { path: '^libs/kernel/', pathNot: tests },
      to: { path: '^(dist/)?libs/', pathNot: '^(dist/)?libs/kernel/' },
    },
    {
      name: 'a-context-imports-no-engine',
      severity: 'error',
      from: { path: fromContext, pathNot: tests },
      to: { path: '^(dist/)?libs/engines/' },
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
      from: { path: '^libs/(runtime|routing|delivery|ingress|scheduling|stream-log)/', pathNot: tests },
      to: { path: anyContext, pathNot: '^(dist/)?libs/[^/]+/published\\.(ts|js)$' },
    },
    {
      name: 'only-apps-assemble',
      severity: 'error',
      from: { path: '^libs/', pathNot: '^libs/assembly/' },
      to: { path: '^(dist/)?libs/assembly/' },
    },
    {
      name: 'assembly-chooses-no-engine',
      severity: 'error',
      from: { path: '^libs/assembly/', pathNot: tests },
      to: { path: '^(dist/)?libs/engines/' },
    },
    {
      name: 'no-nest-in-the-core',
      severity: 'error',
      from: {
        path: '^libs/(kernel|stream-log|runtime|routing|delivery|ingress|scheduling|engines|egress)/|/domain/|/read-models/',
        pathNot: tests,
      },
      to: { path: '(^|/)node_modules/@nestjs/|^@nestjs/' },
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
    exclude: { path: '^(examples|test/fixtures)/' },
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], conditionNames: ['import', 'default'] },
  },
};
