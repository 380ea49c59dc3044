import { isIP } from 'node:net';
import { type ConnectionOptions as TlsOptions } from 'node:tls';
import {
  saslPlain,
  saslScramSha,
  type Connection,
  type ConnectionOptions,
  type SASLCustomAuthenticator,
} from '@platformatic/kafka';
import { asError } from '#libs/kernel/error-message.js';

export const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** TLS and the user with which this process connects to brokers. */
export interface KafkaSecurity {
  /** Undefined: connections are not encrypted. */
  readonly tls?: KafkaTls | undefined;
  /** Undefined: connections have no user. */
  readonly user?: KafkaUser | undefined;
}

export interface KafkaTls {
  /** PEM text of the authorities that sign brokers' certificates. Undefined: those that Node trusts. */
  readonly ca?: string | undefined;
  /** PEM text of this process's own certificate and key, for brokers that ask for one. */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
}

export interface KafkaUser {
  readonly mechanism: Mechanism;
  readonly name: string;
  readonly password: string;
}

type Authenticate = Parameters<SASLCustomAuthenticator>[2];
type Authenticated = NonNullable<Parameters<Parameters<SASLCustomAuthenticator>[6]>[1]>;

/**
 * Share of the broker's limit of a session after which the connection is renewed, so that no request meets the limit.
 */
const SHARE_OF_SESSION = 0.8;

export const tlsOptions = ({ ca, identity }: KafkaTls): TlsOptions => ({
  ...(ca === undefined ? {} : { ca }),
  ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
});

/**
 * Options of one connection. `onSession` receives the length of the session in milliseconds when the broker limits it.
 */
export const secured = (
  { tls, user }: KafkaSecurity,
  host: string,
  onSession: (ms: number) => void,
): Pick<ConnectionOptions, 'tls' | 'tlsServerName' | 'sasl'> => ({
  // The TLS handshake includes the server's name, so that one address may serve several. TLS allows no IP address
  // there.
  ...(tls === undefined ? {} : { tls: tlsOptions(tls), tlsServerName: isIP(host) === 0 }),
  ...(user === undefined
    ? {}
    : {
        sasl: {
          mechanism: user.mechanism,
          username: user.name,
          password: user.password,
          authenticate: onceForEachConnection(user, onSession),
        },
      }),
});

/**
 * The library would authenticate again on a connection whose session ends, between other requests, which brokers
 * refuse. So the end is hidden from it, and BrokerConnection opens another connection in time.
 */
const onceForEachConnection =
  (user: KafkaUser, onSession: (ms: number) => void): SASLCustomAuthenticator =>
  (_mechanism, connection, api, _name, _password, _token, callback) => {
    authenticated(user, connection, api).then(
      (response) => {
        if (response.sessionLifetimeMs > 0n) onSession(Number(response.sessionLifetimeMs) * SHARE_OF_SESSION);
        callback(null, { ...response, sessionLifetimeMs: 0n });
      },
      (error: unknown) => callback(asError(error), undefined as never),
    );
  };

const authenticated = (
  { mechanism, name, password }: KafkaUser,
  connection: Connection,
  api: Authenticate,
): Promise<Authenticated> => {
  switch (mechanism) {
    case 'PLAIN':
      return saslPlain.authenticate(api, connection, name, password);
    case 'SCRAM-SHA-256':
      return saslScramSha.authenticate(api, connection, 'SHA-256', name, password);
    case 'SCRAM-SHA-512':
      return saslScramSha.authenticate(api, connection, 'SHA-512', name, password);
  }
};
