import { describe, expect, it } from '@jest/globals';
import { DomainError } from '#libs/kernel/domain-error.js';
import { checkTriple } from './triple.js';

const check = (emitterId: string, listenerId: string, eventName = ''): string => {
  try {
    return checkTriple({ emitterId, listenerId, eventName });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

describe('checkTriple', () => {
  it.each([
    ['dc_a', 'wh_1', '', 'resource'],
    ['dc_a', 'dc_a', 'orders', 'resource'],
    ['p_1', 'p_2', '$errors', 'resource'],
    ['dc_*', 'wh_1', '$logs', 'glob'],
    ['p_*', 'p_1', '', 'glob'],
    ['o_1', 'p_1', '', 'workspace'],
    ['o_1', 'p_1', '$errors', 'workspace'],
    ['u_1', 'wh_1', '', 'user'],
    ['u_1', 'wh_1', '$errors', 'user'],
  ])('accepts %s to %s on "%s" as %s', (emitterId, listenerId, eventName, kind) => {
    expect(check(emitterId, listenerId, eventName)).toBe(kind);
  });

  it.each(['', '*', 'dc_', 'dc_a*', 'wh_1', 'wh_*', 'o_*', 'sub_1', 'DC_A', 'dc_a b', ' dc_a'])(
    'refuses emitter "%s"',
    (emitterId) => {
      expect(check(emitterId, 'wh_1')).toMatch(
        /^subscription\.invalid_emitter: emitter_id must be one of dc_… .*dc_\*/,
      );
    },
  );

  // docs/reference/rest-api.md#subscription-listeners
  it.each(['', 'o_1', 'u_1', 'dc_*', 'p_*', 'wh_', 'nonsense'])('refuses listener "%s"', (listenerId) => {
    expect(check('dc_a', listenerId)).toMatch(
      /^subscription\.invalid_listener: listener_id must be one of dc_… .*wh_…/,
    );
  });

  // docs/reference/rest-api.md#subscription-event-name
  it.each([
    ['o_1', '$logs'],
    ['u_1', 'orders'],
  ])('refuses channel %s %s', (emitterId, eventName) => {
    expect(check(emitterId, 'wh_1', eventName)).toMatch(
      /^subscription\.invalid_channel: event_name must be empty or \$errors( or \$platform)? when emitter_id is a (workspace|user) id; got/,
    );
  });
});
