import { types } from 'node:util';
import { RefusedStart } from '#libs/config/refused-start.js';

/** Codes for an unknown user or a wrong password, the same from hosted servers, and a missing user or right. */
const USER_REFUSED: ReadonlySet<unknown> = new Set([18, 8_000, 13]);

const UNTRUSTED = 'is not trusted: name a file with its authority as tlsCAFile in SLUICE_MONGO_URL';
/** Faults of a server's certificate, by the codes of Node. */
const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired: renew it',
  CERT_NOT_YET_VALID: 'is not valid yet: compare the clocks',
  CERT_REVOKED: 'is revoked: renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for other names: correct the host in SLUICE_MONGO_URL',
  CERT_SIGNATURE_FAILURE: UNTRUSTED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

/**
 * Explains to an operator why MongoDB cannot be used. RefusedStart where waiting does not help. `reason` is the text of
 * the error without credentials.
 */
export const connectionError = (error: unknown, hosts: string, reason: string): Error => {
  for (const cause of causesOf(error)) {
    const { code, path } = cause as { readonly code?: unknown; readonly path?: unknown };
    if (USER_REFUSED.has(code))
      return new RefusedStart(`MongoDB at ${hosts} refuses the user of SLUICE_MONGO_URL: ${reason}`);
    const problem = typeof code === 'string' ? CERTIFICATE[code] : undefined;
    if (problem !== undefined) return new RefusedStart(`the certificate of MongoDB at ${hosts} ${problem} (${reason})`);
    if (typeof path === 'string' && code !== undefined)
      return new RefusedStart(`SLUICE_MONGO_URL names a file that cannot be read: ${reason}`);
  }
  return new Error(`MongoDB at ${hosts} cannot be reached: ${reason}`);
};

/** The error and its causes, outermost first. */
const causesOf = (error: unknown): readonly Error[] => {
  const causes: Error[] = [];
  for (let each = error; types.isNativeError(each) && !causes.includes(each); each = each.cause) causes.push(each);
  return causes;
};
