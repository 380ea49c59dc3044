import { streamName } from '#libs/kernel/events.js';
import { nameIdOf, user } from './domain/user.js';

/** Name of the owner, whom the first start of a server makes. */
export const OWNER_NAME = 'owner';

/** A stream that every installation has: a server reserves the owner's name before it serves anyone. */
export const FIRST_STREAM = streamName(user.category, nameIdOf(OWNER_NAME));
