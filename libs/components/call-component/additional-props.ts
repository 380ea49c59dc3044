import { Inject, Injectable } from '@nestjs/common';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { boundedProps } from '../domain/metadata-limits.js';
import { COMPONENT_CALLS, type ComponentCalls } from '../ports.js';
import { type AdditionalProps, type AdditionalPropsRequest, withDynamicProps } from '../published.js';
import { DynamicPropsStore } from './dynamic-props.js';

export interface AnsweredProps {
  /** Props that differ from the component's own. */
  readonly dynamicProps: readonly ConfigurableProp[];
  readonly logs: CallOutcome['logs'];
}

/** Calls additionalProps of components (docs/reference/component-model.md#additional-props). */
@Injectable()
export class CalledAdditionalProps implements AdditionalProps {
  constructor(
    @Inject(COMPONENT_CALLS) private readonly calls: ComponentCalls,
    private readonly store: DynamicPropsStore,
  ) {}

  stored(id: string, workspaceId: string, componentId: string): Promise<readonly ConfigurableProp[]> {
    return this.store.get(id, workspaceId, componentId);
  }

  async call(request: AdditionalPropsRequest): Promise<readonly ConfigurableProp[]> {
    return (await this.answer(request)).dynamicProps;
  }

  async answer(request: AdditionalPropsRequest): Promise<AnsweredProps> {
    const { component, dynamicProps, ...rest } = request;
    if (component.hasAdditionalProps !== true) return { dynamicProps: [], logs: [] };
    const outcome = await this.calls.call({
      ...rest,
      bundleHash: component.bundleHash,
      packages: component.packages,
      props: withDynamicProps(component.configurableProps, dynamicProps),
      dynamicProps,
      call: { kind: 'additional_props' },
    });
    const answered = outcome.value === undefined ? undefined : this.calls.propsIn(outcome.value);
    if (outcome.status !== 'ok' || answered === undefined) throw failed(outcome);
    const props = boundedProps(answered);
    return { dynamicProps: differing(component.configurableProps, props), logs: outcome.logs };
  }
}

const differing = (
  own: readonly ConfigurableProp[],
  props: readonly ConfigurableProp[],
): readonly ConfigurableProp[] => {
  const texts = new Map(own.map((prop) => [prop.name, JSON.stringify(sorted(prop))]));
  return props.filter((prop) => texts.get(prop.name) !== JSON.stringify(sorted(prop)));
};

const sorted = (prop: ConfigurableProp): readonly (readonly [string, unknown])[] =>
  Object.entries(prop).sort(([a], [b]) => (a < b ? -1 : 1));

const failed = ({ error, value }: CallOutcome): DomainError => {
  const name = error?.name ?? 'ProcessExited';
  const message =
    error?.message ?? `its process sent ${value === undefined ? 'no answer' : 'an answer that holds no props'}`;
  return new DomainError('component.additional_props_failed', `additionalProps failed: ${name}: ${message}`, {
    name,
    message,
  });
};
