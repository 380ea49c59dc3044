import { DomainError } from '#libs/kernel/domain-error.js';
import { ERRORS_CHANNEL, MAX_CHANNEL_BYTES, PLATFORM_CHANNEL, tooManyBytes } from '#libs/component-model/channels.js';
import { kindOfId } from '#libs/kernel/id-kinds.js';
import { type Triple } from './subscription.js';

export const EMITTER_FORMS = [
  'dc_… (a source)',
  'p_… (a workflow)',
  'dc_* (all sources)',
  'p_* (all workflows)',
  'o_… (errors of a workspace)',
  'u_… (errors of a user)',
];
export const LISTENER_FORMS = ['dc_… (a source)', 'p_… (a workflow)', 'wh_… (a webhook)'];

export type EmitterKind = 'resource' | 'glob' | 'workspace' | 'user';

const ID = /^(dc|p|wh|o|u)_[A-Za-z0-9_-]{1,190}$/;

/** Kind of an emitter id (docs/reference/rest-api.md#subscription-emitters). Throws subscription.invalid_emitter. */
export const emitterKindOf = (emitterId: string): EmitterKind => {
  if (emitterId === 'dc_*' || emitterId === 'p_*') return 'glob';
  switch (ID.exec(emitterId)?.[1]) {
    case 'dc':
    case 'p':
      return 'resource';
    case 'o':
      return 'workspace';
    case 'u':
      return 'user';
    default:
      throw new DomainError(
        'subscription.invalid_emitter',
        `emitter_id must be one of ${EMITTER_FORMS.join(', ')}; got ${told(emitterId)}`,
        { field: 'emitter_id', actual: shortened(emitterId), allowed: EMITTER_FORMS },
      );
  }
};

/** Throws subscription.invalid_listener for an id that cannot be a listener's. */
export const checkListener = (listenerId: string): void => {
  if (['dc', 'p', 'wh'].includes(ID.exec(listenerId)?.[1] ?? '')) return;
  throw new DomainError(
    'subscription.invalid_listener',
    `listener_id must be one of ${LISTENER_FORMS.join(', ')}; got ${told(listenerId)}`,
    { field: 'listener_id', actual: shortened(listenerId), allowed: LISTENER_FORMS },
  );
};

/**
 * Checks the form of a triple and returns the kind of its emitter. Throws subscription.invalid_emitter,
 * .invalid_listener or .invalid_channel, each with the field and the allowed values.
 */
export const checkTriple = ({ emitterId, listenerId, eventName }: Triple): EmitterKind => {
  const kind = emitterKindOf(emitterId);
  checkListener(listenerId);
  const channelBytes = tooManyBytes(eventName);
  if (channelBytes !== undefined) {
    throw new DomainError(
      'subscription.invalid_channel',
      `event_name has ${channelBytes} bytes, the limit is ${MAX_CHANNEL_BYTES}: use a shorter name for the channel`,
      { field: 'event_name', limit: MAX_CHANNEL_BYTES, actual: channelBytes },
    );
  }
  const allowed = channelsOf(kind);
  if (allowed && !allowed.includes(eventName)) {
    throw new DomainError(
      'subscription.invalid_channel',
      `event_name must be empty or ${allowed.slice(1).join(' or ')} when emitter_id is a ${kind} id; got ${shortened(eventName)}`,
      { field: 'event_name', actual: shortened(eventName), allowed },
    );
  }
  return kind;
};

/** Channels of an emitter that has only some; undefined when it may have any. */
const channelsOf = (kind: EmitterKind): readonly string[] | undefined => {
  switch (kind) {
    case 'workspace':
      return ['', ERRORS_CHANNEL, PLATFORM_CHANNEL];
    case 'user':
      return ['', ERRORS_CHANNEL];
    case 'glob':
    case 'resource':
      return undefined;
  }
};

/** The id, with its kind when that is another one. */
const told = (id: string): string => {
  const kind = kindOfId(id);
  return kind === undefined ? shortened(id) : `${shortened(id)}, the id of ${kind}`;
};

const shortened = (text: string): string =>
  text.length > 100 ? `${text.slice(0, 100)}…` : text === '' ? '(empty)' : text;
