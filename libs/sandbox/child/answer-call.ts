import { type ComponentCall } from '../../component-model/component-call.js';
import { runAction } from './action-run.js';
import { type BoundComponent } from './component.js';
import { type Execution } from './execution.js';

/** Answers one call (docs/reference/component-model.md#calls). Rejects with what the component threw. */
export const answerCall = async (
  component: BoundComponent,
  execution: Execution,
  call: ComponentCall,
): Promise<void> => {
  switch (call.kind) {
    case 'action':
      return execution.returns(await runAction(component, execution, call.facts), 'the action');
  }
};
