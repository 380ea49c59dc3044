import { LOOP_PARTS } from '#libs/workflow-runs/loop-state.js';
import { type AttemptUrls, type Execution, stepTexts } from '#libs/workflow-runs/next-execution.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { type Position, type RunState } from '#libs/workflow-runs/run-state.js';
import { type StepRequest } from './workflow-ports.js';

interface InputsOfLoop {
  readonly steps: StepRequest['steps'];
  /** JSON texts of the items. */
  readonly items: readonly string[];
}

interface Outside {
  readonly attemptUrls: AttemptUrls | undefined;
  /** JSON text of `steps.trigger`. */
  readonly trigger: () => string;
}

/** What executions get of the steps before them. */
export class StepInputs {
  /** All items of a loop get the same of the steps before, and the position of a run stays while its loop goes on. */
  private readonly ofLoops = new WeakMap<Position, InputsOfLoop>();

  of(
    plan: RunPlan,
    state: RunState,
    { namespace, item: index }: Execution,
    { attemptUrls, trigger }: Outside,
  ): Pick<StepRequest, 'steps' | 'item'> {
    const { position } = state.head;
    const stepsNow = (): StepRequest['steps'] => ({
      ...Object.fromEntries(stepTexts(plan, state, attemptUrls)),
      trigger: trigger(),
    });
    if (index === undefined || !position) return { steps: stepsNow() };
    let ofLoop = this.ofLoops.get(position);
    if (!ofLoop) {
      const list = JSON.parse(state.parts[LOOP_PARTS.list(namespace)] ?? '[]') as readonly unknown[];
      ofLoop = { steps: stepsNow(), items: list.map((item) => JSON.stringify(item)) };
      this.ofLoops.set(position, ofLoop);
    }
    return { steps: ofLoop.steps, item: { text: ofLoop.items[index] ?? 'null', index } };
  }
}
