import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '#test/harness/paths.js';
import { Commands, has } from './command.js';
import { freePorts } from './free-port.js';
import { type EngineName } from './suites.js';

const SERVICES: Readonly<Record<EngineName, string>> = {
  eventstoredb: 'eventstore',
  mongodb: 'mongo',
  kafka: 'kafka',
};
const FILES = ['docker-compose.yml', 'deploy/engines-on-loopback.yml'];

export interface ComposeEngines {
  readonly addresses: Readonly<Record<EngineName, string>>;
  /** Images named in docker-compose.yml. */
  readonly images: Readonly<Record<EngineName, string>>;
  /** Removes containers, networks and volumes. */
  down(): Promise<void>;
}

/** Starts the three engines of docker-compose.yml in a separate project, on ports of this machine. */
export const composeUp = async (commands: Commands): Promise<ComposeEngines> => {
  if (!has('docker', 'compose', 'version')) {
    throw new Error('--docker needs Docker with its compose plugin: `docker compose version` does not run here');
  }
  if (!has('docker', 'info')) {
    throw new Error('--docker needs a Docker daemon that this user may use: `docker info` does not reach one');
  }
  const [eventstore = 0, mongo = 0, kafka = 0] = await freePorts(3);
  const env = {
    ...process.env,
    // Compose needs the variables of all services, including those that are not started.
    SLUICE_SECRET_KEY: 'not used by the engines',
    SLUICE_API_KEY: 'not used by the engines',
    EVENTSTORE_HOST_PORT: String(eventstore),
    MONGO_HOST_PORT: String(mongo),
    KAFKA_HOST_PORT: String(kafka),
  };
  const project = ['compose', '--project-name', `sluice-test-${process.pid}`, ...FILES.flatMap((file) => ['-f', file])];
  const down = async (run: Commands): Promise<void> => {
    const code = await run.run('docker', [...project, 'down', '--volumes', '--timeout', '10'], env);
    if (code !== 0) throw new Error(`docker compose down ended with ${code}: look for containers of ${project[2]}`);
  };
  try {
    const code = await commands.run('docker', [...project, 'up', '-d', '--wait', ...Object.values(SERVICES)], env);
    if (code !== 0) throw new Error(`docker compose up ended with ${code}: the engines did not become healthy`);
  } catch (error) {
    await down(new Commands());
    throw error;
  }
  return {
    addresses: {
      eventstoredb: `esdb://127.0.0.1:${eventstore}?tls=false`,
      mongodb: `mongodb://127.0.0.1:${mongo}/`,
      kafka: `127.0.0.1:${kafka}`,
    },
    images: imagesOf(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')),
    down: () => down(new Commands()),
  };
};

const imagesOf = (compose: string): Readonly<Record<EngineName, string>> => {
  const image = (service: string): string =>
    new RegExp(`^  ${service}:\\n    image: (\\S+)$`, 'm').exec(compose)?.[1] ?? service;
  return { eventstoredb: image(SERVICES.eventstoredb), mongodb: image(SERVICES.mongodb), kafka: image(SERVICES.kafka) };
};
