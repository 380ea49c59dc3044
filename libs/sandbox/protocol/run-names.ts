/** Rules for names that a run may use. The child reports a fault to the author. The host ends a child that sends it. */
import { MAX_CHANNEL_BYTES, PLATFORM_CHANNELS, tooManyBytes } from '#libs/component-model/channels.js';

// Channel names travel in HTTP headers, which hold no control characters.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Fault in a channel name, or undefined. */
export const channelFault = (name: string): string | undefined => {
  if (PLATFORM_CHANNELS.has(name)) return `"${name}" is a channel of the platform: choose another name`;
  const bytes = tooManyBytes(name);
  if (bytes !== undefined)
    return `name may have at most ${MAX_CHANNEL_BYTES} bytes, this one has ${bytes}: use a shorter name for the channel`;
  if (CONTROL.test(name))
    return `a channel name may not hold control characters: ${JSON.stringify(name.slice(0, 100))}`;
  return undefined;
};

/** Fault in an emit id or a db key, or undefined. */
export const keyFault = (key: string): string | undefined => {
  if (key.includes('\0')) return `it may not hold the character NUL: ${JSON.stringify(key.slice(0, 100))}`;
  // Two such keys would become one where they are stored.
  if (!key.isWellFormed()) return `it may not hold half of a surrogate pair: ${JSON.stringify(key.slice(0, 100))}`;
  return undefined;
};

/** Largest time that `Date` can hold. Larger ones have no ISO form. */
const MAX_TIME = 8.64e15;

export const isTime = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= MAX_TIME;
