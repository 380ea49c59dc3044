import { inspect } from 'node:util';
import { ERROR_LIMITS, TEXT_LIMITS, type ErrorText } from '../protocol/protocol.js';
import { mappedStack } from './source-map.js';
import { accessHint } from './access-hint.js';

const UNREADABLE = 'the component threw something that cannot be read';
const MAX_PART_MESSAGE = 4_096;
const MAX_PART_STACK = 8_192;
/** Longest stack that is read. Frames beyond it would be cut anyway. */
const MAX_READ_STACK = 4 * TEXT_LIMITS.stack;

/** Remaining limits for one error, and the objects that were described already. */
class Room {
  private chars: number = ERROR_LIMITS.chars;
  private count: number = ERROR_LIMITS.count + 1;
  private readonly seen = new Set<object>();

  take(text: string, max: number): string {
    const taken = text.slice(0, Math.min(max, this.chars));
    this.chars -= taken.length;
    return taken;
  }

  /** False for an object that was described already, and when no room is left. */
  enter(value: unknown): boolean {
    if (this.count <= 0 || this.chars <= 0) return false;
    if (typeof value === 'object' && value !== null) {
      if (this.seen.has(value)) return false;
      this.seen.add(value);
    }
    this.count--;
    return true;
  }
}

/** Describes a thrown value as text. Never throws, even when the value has throwing getters. */
export const textOfError = (thrown: unknown): ErrorText => {
  const room = new Room();
  room.enter(thrown);
  return describe(thrown, room, 0);
};

/** Value of a property, or undefined when reading it throws. */
const read = (value: object, key: string): unknown => {
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
};

const inspected = (value: unknown): string => {
  try {
    return inspect(value, { depth: 2 });
  } catch {
    return UNREADABLE;
  }
};

const describe = (thrown: unknown, room: Room, depth: number): ErrorText => {
  const isPart = depth > 0;
  const maxMessage = isPart ? MAX_PART_MESSAGE : TEXT_LIMITS.message;
  if (typeof thrown !== 'object' || thrown === null) {
    const message = typeof thrown === 'string' ? thrown : inspected(thrown);
    const name = room.take('Error', TEXT_LIMITS.name);
    return { name, message: room.take(message, maxMessage), stack: '', code: room.take(name, TEXT_LIMITS.name) };
  }
  const given = { name: read(thrown, 'name'), code: read(thrown, 'code'), message: read(thrown, 'message') };
  const name = typeof given.name === 'string' && given.name !== '' ? given.name : 'Error';
  const code = typeof given.code === 'string' && given.code !== '' ? given.code : name;
  const message = (typeof given.message === 'string' ? given.message : inspected(thrown)) + accessHint(thrown, read);
  const { text, place } = stackOf(read(thrown, 'stack'));
  return {
    name: room.take(name, TEXT_LIMITS.name),
    message: room.take(message, maxMessage),
    code: room.take(code, TEXT_LIMITS.name),
    stack: room.take(text, isPart ? MAX_PART_STACK : TEXT_LIMITS.stack),
    ...(place === undefined || isPart ? {} : { place }),
    ...(depth < ERROR_LIMITS.depth ? partsOf(thrown, room, depth + 1) : {}),
  };
};

const stackOf = (stack: unknown): ReturnType<typeof mappedStack> =>
  typeof stack === 'string' ? mappedStack(stack.slice(0, MAX_READ_STACK)) : { text: '', place: undefined };

const partsOf = (thrown: object, room: Room, depth: number): Pick<ErrorText, 'cause' | 'errors'> => {
  const cause = read(thrown, 'cause');
  const errors = listOf(read(thrown, 'errors'));
  const described: { cause?: ErrorText; errors?: ErrorText[] } = {};
  if (cause !== undefined && cause !== null && room.enter(cause)) described.cause = describe(cause, room, depth);
  const parts = errors.filter((each) => room.enter(each)).map((each) => describe(each, room, depth));
  if (parts.length > 0) described.errors = parts;
  return described;
};

/** First entries of a list. A proxy may throw at any step. */
const listOf = (value: unknown): readonly unknown[] => {
  try {
    return Array.isArray(value) ? Array.prototype.slice.call(value, 0, ERROR_LIMITS.errors) : [];
  } catch {
    return [];
  }
};
