export const ENGINES = ['kafka', 'mongodb', 'eventstoredb'] as const;
export type EngineName = (typeof ENGINES)[number];

interface EngineSuites {
  /** Name for people. */
  readonly title: string;
  /** Folder of the adapter. Its int-specs are the same for every server. */
  readonly adapter: string;
  /** Specs of the server that is started here when none is given. */
  readonly ownServer: readonly string[];
  /** Setting from which the suites read the server's address. */
  readonly variable: string;
  /** Setting in which a user gives an address. */
  readonly given: string;
}

export const SUITES: Readonly<Record<EngineName, EngineSuites>> = {
  kafka: {
    title: 'Kafka',
    adapter: 'libs/engines/kafka/',
    ownServer: ['test/engines/kafka-broker'],
    variable: 'SLUICE_TEST_KAFKA',
    given: 'SLUICE_KAFKA_BROKERS',
  },
  mongodb: {
    title: 'MongoDB',
    adapter: 'libs/engines/mongodb/',
    ownServer: ['test/engines/ferretdb'],
    variable: 'SLUICE_TEST_MONGO',
    given: 'SLUICE_MONGO_URL',
  },
  eventstoredb: {
    title: 'EventStoreDB',
    adapter: 'libs/engines/eventstoredb/',
    ownServer: ['test/engines/eventstore-real/'],
    variable: 'SLUICE_TEST_EVENTSTORE',
    given: 'SLUICE_EVENTSTORE_URL',
  },
};

/**
 * Specs that run each role as a process on the available engines. They were chosen for their coverage in little time.
 */
export const ROLE_SPECS: readonly string[] = [
  'test/e2e/main-job.e2e-spec.ts',
  'test/e2e/hooks.e2e-spec.ts',
  'test/engines/move',
];

/** All other black-box specs, except those that always use one process. A pattern, as Jest takes it. */
export const E2E_SPECS: readonly string[] = [
  'test/(e2e|faults)/(?!main-job|hooks|packages|command-line|admin-commands|data-directory|dev-command|test-command|mistakes-of|rebuild|move|operator-commands|rotate-key)[^/]+\\.e2e-spec\\.ts$',
];

/** Attacks on the API and on endpoints, except those that ask for one process. */
export const ATTACK_SPECS: readonly string[] = [
  'test/attacks/(?!data-dir|dead-webhook|disk|endless-fetches|foreign-folder|host-ended|hostile-server|memberships|pages|run-limits|spellings|unread-)[^/]+\\.e2e-spec\\.ts$',
];

/**
 * Specs that run two processes of every role, which are sixteen, or of those roles in which a feature has state. They
 * need a machine without other load.
 */
export const COPY_SPECS: readonly string[] = ['test/engines/two-copies', 'on-roles.int-spec.ts'];

/** Specs that kill roles and engines. They start their own servers. */
export const FAULT_SPECS: readonly string[] = [
  'test/engines/engines-away',
  'test/engines/faults-roles',
  'test/engines/kill9-roles',
  'test/engines/rolling-restart',
  'test/engines/three-brokers',
];
