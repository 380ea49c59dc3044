import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token as it is kept where nobody may read it: its SHA-256 with a salt, so that a process checks it without a vault. */
export interface TokenHash {
  readonly salt: string;
  readonly keyHash: string;
}

export const newTokenHash = (token: string): TokenHash => {
  const salt = randomBytes(16).toString('hex');
  return { salt, keyHash: hashOf(salt, token) };
};

/** Takes the same time for every token of a length. */
export const tokenMatches = ({ salt, keyHash }: TokenHash, token: string): boolean =>
  timingSafeEqual(Buffer.from(hashOf(salt, token)), Buffer.from(keyHash));

const hashOf = (salt: string, token: string): string => createHash('sha256').update(`${salt}${token}`).digest('hex');
