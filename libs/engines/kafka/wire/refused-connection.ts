import { types } from 'node:util';
import { ResponseError } from '@platformatic/kafka';
import { messageOf } from '#libs/kernel/error-message.js';
import { type KafkaSecurity } from './security.js';

/** A broker answers and refuses this process. The message names the settings that decide it. */
export class RefusedConnection extends Error {
  override readonly name = 'RefusedConnection';
}

/** Explains to an operator why a connection could not be opened. */
export const connectionError = (error: unknown, broker: string, security: KafkaSecurity): Error => {
  const causes = causesOf(error);
  return (
    refusedUser(causes, broker, security) ??
    refusedCertificate(causes, broker) ??
    new Error(`${broker}: ${openingProblem(causes)}`, { cause: error })
  );
};

/**
 * Why a broker may have closed a connection before its first answer; undefined when the settings do not explain it.
 * `knownRight`: a broker has answered with these settings, so one that closes a connection is more likely ending.
 */
export const closedUnanswered = (
  error: unknown,
  broker: string,
  { tls, user }: KafkaSecurity,
  knownRight: boolean,
): Error | undefined => {
  const alert = causesOf(error)
    .map((cause) => textOf(cause, 'code') ?? '')
    .find((code) => CLIENT_REFUSED.has(code));
  if (alert !== undefined) {
    const found = tls?.identity === undefined ? 'none is given' : 'it does not trust the one given';
    return new RefusedConnection(
      `${broker} wants a certificate of its clients, and ${found} (${alert}): set SLUICE_KAFKA_TLS_CERT and SLUICE_KAFKA_TLS_KEY`,
    );
  }
  if (knownRight) return undefined;
  const wanted = [
    ...(tls === undefined ? ['TLS (SLUICE_KAFKA_TLS)'] : []),
    ...(user === undefined ? ['a user (SLUICE_KAFKA_SASL_MECHANISM)'] : []),
  ];
  if (wanted.length === 0) return undefined;
  const text = `${broker} closed the connection before it answered; it may want ${wanted.join(' or ')} at this port`;
  return new Error(text, { cause: error });
};

/** With TLS 1.3, a broker refuses a client's certificate only after the client counts as connected. */
const CLIENT_REFUSED: ReadonlySet<string> = new Set([
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
]);

/** The error and its causes, outermost first, with the errors of a reply that contains several. */
const causesOf = (error: unknown): readonly Error[] => {
  const causes: Error[] = [];
  for (let each = error; types.isNativeError(each) && !causes.includes(each); each = each.cause) {
    causes.push(each);
    if (each instanceof AggregateError) causes.push(...each.errors.filter(types.isNativeError));
  }
  return causes;
};

const refusedUser = (
  causes: readonly Error[],
  broker: string,
  { user }: KafkaSecurity,
): RefusedConnection | undefined => {
  if (user === undefined) return undefined;
  for (const cause of causes) {
    switch (textOf(cause, 'apiId')) {
      case 'SASL_AUTHENTICATION_FAILED': {
        const said = textOf(cause, 'serverErrorMessage') ?? 'without a reason';
        return new RefusedConnection(
          `${broker} refuses the user "${user.name}" with ${user.mechanism} (${said}): check SLUICE_KAFKA_USERNAME, ` +
            'SLUICE_KAFKA_PASSWORD and SLUICE_KAFKA_SASL_MECHANISM',
        );
      }
      case 'UNSUPPORTED_SASL_MECHANISM':
        return new RefusedConnection(
          `${broker} does not take ${user.mechanism}, but ${offeredIn(causes)}: set SLUICE_KAFKA_SASL_MECHANISM`,
        );
      case 'ILLEGAL_SASL_STATE':
        return new RefusedConnection(`${broker} takes no user at this port: unset SLUICE_KAFKA_SASL_MECHANISM`);
      default:
    }
  }
  return undefined;
};

const offeredIn = (causes: readonly Error[]): string => {
  const reply = causes.find((cause) => cause instanceof ResponseError)?.response as
    { readonly mechanisms?: readonly string[] | null } | undefined;
  const mechanisms = reply?.mechanisms ?? [];
  return mechanisms.length === 0 ? 'none' : mechanisms.join(', ');
};

/** Faults of a broker's certificate, by the codes of Node. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired: renew it',
  CERT_NOT_YET_VALID: 'is not valid yet: compare the clocks',
  CERT_REVOKED: 'is revoked: renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for other names: correct SLUICE_KAFKA_BROKERS or advertised.listeners',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is not trusted: name a file with it or its authority in SLUICE_KAFKA_TLS_CA',
  SELF_SIGNED_CERT_IN_CHAIN: 'is not trusted: name a file with its authority in SLUICE_KAFKA_TLS_CA',
  UNABLE_TO_GET_ISSUER_CERT: 'is not trusted: name a file with its authority in SLUICE_KAFKA_TLS_CA',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is not trusted: name a file with its authority in SLUICE_KAFKA_TLS_CA',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is not trusted: name a file with its authority in SLUICE_KAFKA_TLS_CA',
  CERT_SIGNATURE_FAILURE: 'is not trusted: name a file with its authority in SLUICE_KAFKA_TLS_CA',
};

const refusedCertificate = (causes: readonly Error[], broker: string): RefusedConnection | undefined => {
  for (const cause of causes) {
    const problem = CERTIFICATE[textOf(cause, 'code') ?? ''];
    if (problem !== undefined)
      return new RefusedConnection(`the certificate of ${broker} ${problem} (${messageOf(cause)})`);
  }
  return undefined;
};

const openingProblem = (causes: readonly Error[]): string => {
  const texts = causes.map(messageOf);
  return texts.filter((text, i) => text !== '' && texts.indexOf(text) === i).join(' ') || 'no reason given';
};

const textOf = (error: Error, property: string): string | undefined => {
  const value: unknown = (error as unknown as Record<string, unknown>)[property];
  return typeof value === 'string' ? value : undefined;
};
