// Tiers by file name (CONTRIBUTING.md): *.spec.ts pure or embedded, *.int-spec.ts real processes and files,
// *.e2e-spec.ts over HTTP. The int-specs of the distributed engines need servers: npm run test:engines starts them.
const engines = '/(libs/engines/(kafka|mongodb|eventstoredb)|test/engines)/';
const tier = {
  unit: '\\.spec\\.ts$',
  int: `^(?!.*${engines}).*\\.int-spec\\.ts$`,
  engines: `${engines}.*\\.int-spec\\.ts$`,
  e2e: '\\.e2e-spec\\.ts$',
};
const wanted = (process.env.TIER ?? 'unit,e2e').split(',');

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  rootDir: '.',
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/test'],
  testRegex: wanted.map((name) => tier[name]),
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#libs/(.*)\\.js$': '<rootDir>/libs/$1.ts',
    '^#apps/(.*)\\.js$': '<rootDir>/apps/$1.ts',
    '^#test/(.*)\\.js$': '<rootDir>/test/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true, tsconfig: '<rootDir>/tsconfig.json', diagnostics: false }] },
  testTimeout: 30_000,
  maxWorkers: 2,
};
