import { Inject, Injectable } from '@nestjs/common';
import {
  type CallOutcome,
  NO_OPTIONS_METHOD,
  NO_SUCH_PROP,
  type OptionsAnswer,
} from '#libs/component-model/component-call.js';
import { accountWarnings } from '#libs/component-model/account-warning.js';
import { type ConfigurableProp, type OptionWithLabel } from '#libs/component-model/component-metadata.js';
import { type LogLine } from '#libs/component-model/run-output.js';
import { type Caller } from '#libs/http/callers.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { READ_MODELS } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { deployable } from '../catalog.js';
import { findComponent } from '../get-component/find-component.js';
import { componentNotFound } from '../get-component/get-component.query.js';
import { COMPONENT_CALLS, type ComponentCalls } from '../ports.js';
import {
  type ComponentOptions,
  type DeployableComponent,
  type FoundOptions,
  type OptionsRequest,
  withDynamicProps,
} from '../published.js';
import { CalledAdditionalProps } from './additional-props.js';
import { DynamicPropsStore } from './dynamic-props.js';

export interface FormRequest {
  /** Id or key. */
  readonly component: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly dynamicPropsId?: string;
  readonly caller: Caller;
}

type Option = OptionsAnswer['options'][number];

export interface FoundProps {
  readonly id: string;
  readonly props: readonly ConfigurableProp[];
  readonly logs: readonly LogLine[];
  readonly warnings: readonly Warning[];
}

interface Form {
  readonly workspaceId: string;
  readonly component: DeployableComponent;
  readonly dynamicProps: readonly ConfigurableProp[];
}

/** Calls of a form for the props of a component: options and additionalProps. */
@Injectable()
export class ComponentForms implements ComponentOptions {
  constructor(
    @Inject(READ_MODELS) private readonly readModels: ReadModelStore,
    @Inject(COMPONENT_CALLS) private readonly calls: ComponentCalls,
    private readonly additional: CalledAdditionalProps,
    private readonly store: DynamicPropsStore,
  ) {}

  /** See docs/reference/rest-api.md#configure. */
  async options(request: OptionsRequest): Promise<FoundOptions> {
    const { workspaceId, component, dynamicProps } = await this.formOf(request);
    const { prop, page, prevContext, query, values } = request;
    const props = withDynamicProps(component.configurableProps, dynamicProps);
    checkAsked(prop, props);
    const outcome = await this.calls.call({
      workspaceId,
      bundleHash: component.bundleHash,
      packages: component.packages,
      props,
      dynamicProps,
      values,
      secrets: secretsIn(props, values),
      call: { kind: 'options', prop, page, prevContext, ...(query === undefined ? {} : { query }) },
    });
    return { ...found(prop, props, outcome), warnings: this.warningsOf(workspaceId, props, values) };
  }

  /** See docs/reference/rest-api.md#dynamic-props. */
  async props(request: FormRequest): Promise<FoundProps> {
    const { workspaceId, component, dynamicProps } = await this.formOf(request);
    const { values } = request;
    const secrets = secretsIn(withDynamicProps(component.configurableProps, dynamicProps), values);
    const answer = await this.additional.answer({ workspaceId, component, dynamicProps, values, secrets });
    const id = await this.store.put(workspaceId, { componentId: component.id, props: answer.dynamicProps });
    const props = withDynamicProps(component.configurableProps, answer.dynamicProps);
    return { id, props, logs: answer.logs, warnings: this.warningsOf(workspaceId, props, values) };
  }

  private warningsOf(
    workspaceId: string,
    props: readonly ConfigurableProp[],
    values: Readonly<Record<string, unknown>>,
  ): readonly Warning[] {
    return accountWarnings(props, values, (value) => this.calls.unknownAccountIn(value, workspaceId));
  }

  private async formOf({ component: keyOrId, dynamicPropsId, caller }: FormRequest): Promise<Form> {
    const found = await findComponent(this.readModels, keyOrId, caller);
    if (!found) throw componentNotFound(keyOrId);
    const { workspaceId } = found;
    const component = deployable(found.doc.component);
    const dynamicProps =
      dynamicPropsId === undefined ? [] : await this.store.get(dynamicPropsId, workspaceId, component.id);
    return { workspaceId, component, dynamicProps };
  }
}

/** Texts of the given secret props. */
export const secretsIn = (
  props: readonly ConfigurableProp[],
  values: Readonly<Record<string, unknown>>,
): readonly string[] =>
  props.flatMap(({ name, secret }) => {
    const value = secret === true && Object.hasOwn(values, name) ? values[name] : undefined;
    return typeof value === 'string' ? [value] : [];
  });

const checkAsked = (name: string, props: readonly ConfigurableProp[]): void => {
  const prop = props.find((each) => each.name === name);
  if (prop === undefined) throw noSuchProp(name, props);
  if (prop.remoteOptions !== true) throw noOptions(name, props);
};

const noSuchProp = (name: string, props: readonly ConfigurableProp[]): DomainError =>
  invalidCall(
    `prop_name: the component has no prop ${name.slice(0, 100)}; its props are ${names(props) || 'none'}`,
    name,
  );

const noOptions = (name: string, props: readonly ConfigurableProp[]): DomainError => {
  const with_ = names(props.filter(({ remoteOptions }) => remoteOptions === true));
  return invalidCall(
    `prop_name: prop ${name} has no options method; props with one are ${with_ || 'none'}. A list of options is part of the component`,
    name,
  );
};

const MOST_NAMED = 20;
const names = (props: readonly ConfigurableProp[]): string => {
  const more = props.length - MOST_NAMED;
  const first = props.slice(0, MOST_NAMED).map(({ name }) => name);
  return `${first.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

const invalidCall = (message: string, name: string): DomainError =>
  new DomainError('component.invalid_call', message, { field: 'prop_name', actual: name.slice(0, 100) });

const NOTHING = { options: null, stringOptions: null, context: null } as const;

const found = (
  prop: string,
  props: readonly ConfigurableProp[],
  outcome: CallOutcome,
): Omit<FoundOptions, 'warnings'> => {
  const { status, value, error, logs } = outcome;
  if (error?.code === NO_SUCH_PROP) throw noSuchProp(prop, props);
  if (error?.code === NO_OPTIONS_METHOD) throw noOptions(prop, props);
  const answer = status === 'ok' && value !== undefined ? answerIn(value) : undefined;
  if (answer === undefined) {
    const told = error ? `${error.name}: ${error.message}` : 'ProcessExited: the process sent no list of options';
    return { ...NOTHING, logs, errors: [told] };
  }
  const context = answer.context ?? null;
  const { options } = answer;
  return options.length > 0 && options.every((option) => typeof option === 'string')
    ? { options: null, stringOptions: options, context, logs, errors: [] }
    : { options: options.map(labelled), stringOptions: null, context, logs, errors: [] };
};

const labelled = (option: Option): OptionWithLabel =>
  typeof option === 'object' && option !== null
    ? (option as OptionWithLabel)
    : { label: String(option), value: option };

/** Checks the answer of a process that ran the component's code. Undefined for anything but a list of options. */
const answerIn = (text: string): OptionsAnswer | undefined => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('options' in value)) return undefined;
  const { options } = value;
  return Array.isArray(options) && options.every(isOption) ? (value as OptionsAnswer) : undefined;
};

const isOption = (option: unknown): boolean => {
  if (typeof option === 'string' || typeof option === 'number' || typeof option === 'boolean') return true;
  return typeof option === 'object' && option !== null && 'value' in option && isLabelled(option);
};

const isLabelled = (option: object): boolean =>
  Object.keys(option).length === 2 && 'label' in option && typeof option.label === 'string';
