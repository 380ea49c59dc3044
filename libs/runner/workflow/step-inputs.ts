import { LOOP_PARTS } from '#libs/workflow-runs/loop-state.js';
import { type AttemptUrls, type Execution, stepTexts } from '#libs/workflow-runs/next-execution.js';
import { type RunPlan } from '#libs/workflow-runs/run-plan.js';
import { type Position, type RunState } from '#libs/workflow-runs/run-state.js';
import { type StepRequest } from './workflow-ports.js';

interface InputsOfLoop {
  readonly texts: Readonly<Record<string, string>>;
  /** JSON texts of the items. */
  readonly items: readonly string[];
}

/** What executions get of the steps before them. */
export class StepInputs {
  /** All items of a loop get the same of the steps before, and the position of a run stays while its loop goes on. */
  private readonly ofLoops = new WeakMap<Position, InputsOfLoop>();

  of(
    plan: RunPlan,
    state: RunState,
    { namespace, item: index }: Execution,
    attemptUrls: AttemptUrls | undefined,
  ): Pick<StepRequest, 'item'> & Pick<InputsOfLoop, 'texts'> {
    const { position } = state.head;
    const textsNow = (): InputsOfLoop['texts'] => Object.fromEntries(stepTexts(plan, state, attemptUrls));
    if (index === undefined || !position) return { texts: textsNow() };
    let ofLoop = this.ofLoops.get(position);
    if (!ofLoop) {
      const list = JSON.parse(state.parts[LOOP_PARTS.list(namespace)] ?? '[]') as readonly unknown[];
      ofLoop = { texts: textsNow(), items: list.map((item) => JSON.stringify(item)) };
      this.ofLoops.set(position, ofLoop);
    }
    return { texts: ofLoop.texts, item: { text: ofLoop.items[index] ?? 'null', index } };
  }
}
