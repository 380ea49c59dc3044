import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type BearerAuth } from './published.js';

export const newBearerAuth = (token: string): BearerAuth => {
  const salt = randomBytes(16).toString('hex');
  return { salt, keyHash: hashOf(salt, token) };
};

/** Takes the same time for every token of a length. */
export const bearerMatches = ({ salt, keyHash }: BearerAuth, token: string): boolean =>
  timingSafeEqual(Buffer.from(hashOf(salt, token)), Buffer.from(keyHash));

const hashOf = (salt: string, token: string): string => createHash('sha256').update(`${salt}${token}`).digest('hex');
