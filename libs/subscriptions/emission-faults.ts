import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { checkTriple } from './domain/triple.js';
import { checkedFilter } from './filter.js';
import { mustBeEmitter, type Resources } from './ports.js';

export interface Emission {
  readonly emitterId: string;
  /** Name of the channel; empty for the default one. */
  readonly eventName: string;
  readonly filter: unknown;
}

/** Any id of a listener, because only the emitter is checked. */
const LISTENER = 'p_listener';

/** Errors with which a subscription to these events would be refused. `details.field` names what is wrong. */
export const emissionFaults = (
  resources: Resources,
  { emitterId, eventName, filter }: Emission,
  context: CommandContext,
): readonly DomainError[] => [
  ...thrown(() => {
    const kind = checkTriple({ emitterId, eventName, listenerId: LISTENER });
    mustBeEmitter(resources, kind, emitterId, context);
  }),
  ...thrown(() => checkedFilter(filter)),
];

const thrown = (work: () => unknown): readonly DomainError[] => {
  try {
    work();
    return [];
  } catch (error) {
    if (error instanceof DomainError) return [error];
    throw error;
  }
};
