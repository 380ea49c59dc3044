import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { answersFor } from './answers.js';
import { type BoundProps, storeId, WORKSPACE } from './bound-props.js';
import { builtComponent } from './built-component.js';
import { callingFile } from './calling-file.js';
import { ComponentProcess } from './component-process.js';
import { bindAllProps } from './dynamic-props.js';
import { checkExpected } from './expectation.js';
import { type Expected, type Given, type GivenState, type Outcome, type Step } from './published.js';
import { givenStores } from './given-stores.js';
import { TestRun } from './test-run.js';
import { momentOf } from './time.js';

/**
 * Gives a component, by its file relative to the test, what is there before a test. `when` builds it as a server does
 * and runs it in a process of its own, in which time stands still and stubs answer requests.
 */
export const given = (file: string | URL, state: GivenState = {}): Given => {
  const test = callingFile(given);
  const at = fileOf(file, test);
  return { when: async (...steps) => outcomeOf(at, test, state, steps) };
};

/** @param from file of the test */
const fileOf = (file: string | URL, from: string): string => {
  if (file instanceof URL || file.startsWith('file:')) return fileURLToPath(file);
  return path.resolve(path.dirname(from), file);
};

const outcomeOf = async (file: string, test: string, state: GivenState, steps: readonly Step[]): Promise<Outcome> => {
  const clock = { now: state.now === undefined ? Date.now() : momentOf(state.now) };
  const component = await builtComponent(file);
  const { metadata } = component;
  let known: readonly string[] = [];
  const answers = answersFor(state.http, test, () => new SecretMask(known));
  const stores = await givenStores(
    Object.entries(state.stores ?? {}).map(([prop, records]) => [storeId(prop), records]),
    WORKSPACE,
    () => clock.now,
  );
  const processOf = (props: BoundProps): ComponentProcess => {
    known = props.secrets;
    return new ComponentProcess({ component, props, stores, request: (sent) => answers.answer(sent) }, clock);
  };
  // A form asks for options before all props are filled in.
  const mayLackProps = steps.every((step) => 'options' in step);
  const request = { metadata, state: withRunProps(state, steps), now: clock.now, mayLackProps };
  const props = await bindAllProps(request, (filled) =>
    inProcess(processOf(filled), (process) => process.ask({ kind: 'additional_props' })),
  );
  return inProcess(processOf(props), async (process) => {
    const run = new TestRun({ process, clock, props, db: jsonTexts(state.db ?? {}), kind: metadata.kind });
    for (const step of steps) await run.take(step);
    answers.end();
    return expecting({ ...run.outcome(), requests: answers.requests });
  });
};

const inProcess = async <T>(process: ComponentProcess, use: (process: ComponentProcess) => Promise<T>): Promise<T> => {
  try {
    return await use(process);
  } finally {
    await process.close();
  }
};

/** The props of a step `run` are given beside the others. */
const withRunProps = (state: GivenState, steps: readonly Step[]): GivenState => {
  const runs = steps.flatMap((step) => ('run' in step ? [step.run] : []));
  if (runs.length > 1) throw new TypeError('when: a test has at most one step "run": give each run its own when()');
  return { ...state, props: { ...state.props, ...runs[0] } };
};

const jsonTexts = (db: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(db).flatMap(([key, value]) => (value === undefined ? [] : [[key, JSON.stringify(value)]])),
  );

const expecting = (outcome: Omit<Outcome, 'expect'>): Outcome => {
  const whole: Outcome = {
    ...outcome,
    expect(part: Expected) {
      checkExpected(outcome, part);
      return whole;
    },
  };
  return whole;
};
