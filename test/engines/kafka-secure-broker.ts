import { removeDir, tempDir } from '../harness/temp-dir.js';
import { joined, makeAuthority, type Authority, type Certified } from './certificates.js';
import { freePorts } from './free-port.js';
import { startKafkaProcess } from './kafka-process.js';

export const USER = { name: 'sluice', password: 'it is=a secret' } as const;

/** Length of a session of a user of SCRAM-SHA-256. */
export const SESSION_MS = 4_000;

/** A real broker that wants TLS and users, beside a port that wants neither. */
export interface SecureKafkaBroker {
  /** TLS, and a user by PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512. */
  readonly saslSsl: string;
  /** A user by SCRAM-SHA-512 only, without TLS. */
  readonly saslPlaintext: string;
  /** TLS alone. */
  readonly ssl: string;
  /** TLS with certificates on both sides. */
  readonly mutual: string;
  readonly plaintext: string;
  /** Signs the broker's certificate. */
  readonly authority: Authority;
  /** Certificate of a client, which the port `mutual` accepts. */
  readonly client: Certified;
  /** An authority that the broker does not know. */
  readonly stranger: Authority;
  stop(): Promise<void>;
}

const LISTENERS = {
  saslSsl: 'SASL_SSL',
  saslPlaintext: 'SASL_PLAINTEXT',
  ssl: 'SSL',
  mutual: 'MUTUAL',
  plaintext: 'PLAINTEXT',
} as const;
const JAAS = 'org.apache.kafka.common.security';

export interface SecureKafkaOptions {
  /** Settings of the broker, in addition to those of the test or instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
}

export const startSecureKafkaBroker = async ({
  settings = {},
}: SecureKafkaOptions = {}): Promise<SecureKafkaBroker> => {
  const dir = tempDir('kafka-secure');
  const authority = await makeAuthority(dir);
  const stranger = await makeAuthority(dir, 'stranger');
  const server = await authority.issue('broker', ['IP:127.0.0.1', 'DNS:broker.test']);
  const client = await authority.issue('client', ['DNS:client']);
  const [controllerPort = 0, ...ports] = await freePorts(1 + Object.keys(LISTENERS).length);
  const addresses = Object.keys(LISTENERS).map((_, i) => `127.0.0.1:${ports[i] ?? 0}`);
  const listeners = Object.values(LISTENERS).map((name, i) => `${name}://${addresses[i] ?? ''}`);
  const broker = await startKafkaProcess({
    id: 1,
    dir,
    port: ports[0] ?? 0,
    controllerPort,
    voters: `1@127.0.0.1:${controllerPort}`,
    heapMb: 384,
    forLoad: false,
    scram: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
      (mechanism) => `${mechanism}=[name="${USER.name}",password="${USER.password}"]`,
    ),
    settings: {
      ...listenerSettings(listeners, controllerPort),
      ...tlsSettings(joined(server), authority.ca),
      ...saslSettings(),
      ...settings,
    },
  });
  const at = (listener: keyof typeof LISTENERS): string => addresses[Object.keys(LISTENERS).indexOf(listener)] ?? '';
  return {
    saslSsl: at('saslSsl'),
    saslPlaintext: at('saslPlaintext'),
    ssl: at('ssl'),
    mutual: at('mutual'),
    plaintext: at('plaintext'),
    authority,
    client,
    stranger,
    stop: async () => {
      await broker.shutDown();
      removeDir(dir);
    },
  };
};

const listenerSettings = (listeners: readonly string[], controllerPort: number): Record<string, string> => ({
  listeners: [...listeners, `CONTROLLER://127.0.0.1:${controllerPort}`].join(','),
  'advertised.listeners': listeners.join(','),
  'listener.security.protocol.map':
    'SASL_SSL:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,MUTUAL:SSL,PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'inter.broker.listener.name': 'PLAINTEXT',
});

const tlsSettings = (keystore: string, truststore: string): Record<string, string> => ({
  'ssl.keystore.type': 'PEM',
  'ssl.keystore.location': keystore,
  'ssl.truststore.type': 'PEM',
  'ssl.truststore.location': truststore,
  'listener.name.mutual.ssl.client.auth': 'required',
});

const saslSettings = (): Record<string, string> =>
  Object.fromEntries([
    ['sasl.enabled.mechanisms', 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512'],
    ['listener.name.sasl_plaintext.sasl.enabled.mechanisms', 'SCRAM-SHA-512'],
    ['listener.name.sasl_ssl.scram-sha-256.connections.max.reauth.ms', String(SESSION_MS)],
    ...['sasl_ssl', 'sasl_plaintext'].flatMap((listener) => [
      [
        `listener.name.${listener}.plain.sasl.jaas.config`,
        `${JAAS}.plain.PlainLoginModule required user_${USER.name}="${USER.password}";`,
      ],
      ...['scram-sha-256', 'scram-sha-512'].map((mechanism) => [
        `listener.name.${listener}.${mechanism}.sasl.jaas.config`,
        `${JAAS}.scram.ScramLoginModule required;`,
      ]),
    ]),
  ]) as Record<string, string>;
