import { type ComponentCall } from '#libs/component-model/component-call.js';
import { runAction } from './action-run.js';
import { describeAll, dynamicDefinitions } from './additional-props.js';
import { askEventNames } from './ask-event-names.js';
import { askOptions } from './ask-options.js';
import { type BoundComponent } from './component.js';
import { type Execution } from './execution.js';
import { runStep } from './step-run.js';

/** Answers one call (docs/reference/component-model.md#calls). Rejects with what the component threw. */
export const answerCall = async (
  component: BoundComponent,
  execution: Execution,
  call: ComponentCall,
): Promise<void> => {
  switch (call.kind) {
    case 'options':
      return execution.returns(await askOptions(component, execution, call), `options of prop ${call.prop}`);
    case 'event_names':
      return execution.returns(await askEventNames(component, execution, call.prop), `eventNames of prop ${call.prop}`);
    case 'action':
      return execution.returns(await runAction(component, execution, call.facts), 'the action');
    case 'step':
      return runStep(component, execution, call.facts);
    case 'additional_props': {
      const definitions = await dynamicDefinitions(component, execution);
      return execution.returns({ props: describeAll(component, definitions) }, 'additionalProps');
    }
  }
};
