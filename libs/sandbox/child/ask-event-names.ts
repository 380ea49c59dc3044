import { type EventNamesAnswer } from '#libs/component-model/component-call.js';
import { definitionOf } from './ask-options.js';
import { type BoundComponent, isMethod } from './component.js';
import { type Execution } from './execution.js';
import { resolveProp } from './prop-definition.js';

/** Calls `eventNames` of a prop (docs/reference/component-model.md#apphook-event-names). The server checks the answer. */
export const askEventNames = async (
  component: BoundComponent,
  execution: Execution,
  prop: string,
): Promise<EventNamesAnswer> => {
  const { eventNames } = resolveProp(prop, await definitionOf(component, execution, prop));
  const names: unknown = isMethod(eventNames) ? await eventNames.call(component.thisOf(execution)) : eventNames;
  return { eventNames: names ?? null };
};
