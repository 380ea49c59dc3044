/**
 * What authors import from `sluice`: the wrappers, which return their argument, and its types. Inside a component the
 * platform resolves the name to its own copy (docs/reference/component-model.md#define-wrappers). The package ships the
 * declarations of this folder, so an exported function states its types itself.
 */
import {
  type Action,
  type ActionThis,
  type App,
  type AppThis,
  type Methods,
  type Source,
  type SourceThis,
} from './component.js';
import { type PropDefinitions, type Props } from './props.js';

export { type Action, type ActionThis, type App, type AppThis, type Methods, type Source, type SourceThis };
export { type Prop, type PropDefinitions, type Props, type PropType, type PropValues } from './props.js';
export {
  type AnyValue,
  type DataStore,
  type Db,
  type Emitter,
  type EventMetadata,
  type HttpEvent,
  type HttpInterface,
  type HttpReply,
  type HttpRequest,
  type TimerEvent,
  type TimerInterface,
} from './values.js';
export { type ActionEvent, type Step, type StepFlow, type StepSends } from './step.js';

type None = Record<never, never>;

/** Types a source: `this` of `run`, hooks and methods has the props, the methods and `$emit`. */
export function defineSource<const P extends Props = None, const M extends Methods = None>(
  source: Source<P, M> & ThisType<SourceThis<P, M>>,
): Source<P, M> {
  return source;
}

/** Types an action: `this` of `run` and methods has the props and the methods. */
export function defineAction<const P extends Props = None, const M extends Methods = None>(
  action: Action<P, M> & ThisType<ActionThis<P, M>>,
): Action<P, M> {
  return action;
}

/** Types an app: `this` of its methods has the methods and `$auth`. */
export function defineApp<const P extends PropDefinitions = None, const M extends Methods = None>(
  app: App<P, M> & ThisType<AppThis<M>>,
): App<P, M> {
  return app;
}
