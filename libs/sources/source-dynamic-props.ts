import { Inject, Injectable } from '@nestjs/common';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import {
  ADDITIONAL_PROPS,
  type AdditionalProps,
  type DeployableComponent,
  withDynamicProps,
} from '#libs/components/published.js';
import { VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ConfiguredProps } from './domain/props.js';
import { type SourceRecord } from './domain/source.js';
import { secretsIn, valuesInClear } from './values-in-clear.js';

/** Calls of additionalProps for one operation. A dynamic prop with `reloadProps` may add further props. */
const MOST_CALLS = 5;

interface DynamicPropsRequest {
  readonly component: DeployableComponent;
  readonly given: ConfiguredProps;
  readonly dynamicPropsId?: string | undefined;
  readonly workspaceId: string;
  /** The source that is updated. */
  readonly source?: SourceRecord;
}

/** Finds the props that additionalProps adds to a source (docs/reference/component-model.md#additional-props). */
@Injectable()
export class SourceDynamicProps {
  constructor(
    @Inject(ADDITIONAL_PROPS) private readonly additional: AdditionalProps,
    @Inject(VAULT) private readonly vault: Vault,
  ) {}

  /** Rejects with DomainError component.additional_props_failed or component.dynamic_props_not_found. */
  async of({
    component,
    given,
    dynamicPropsId,
    workspaceId,
    source,
  }: DynamicPropsRequest): Promise<readonly ConfigurableProp[]> {
    const secrets: string[] = [];
    const values = await valuesInClear(this.vault, { given, source, workspaceId }, secrets);
    let dynamicProps =
      dynamicPropsId === undefined
        ? (source?.definition.dynamicProps ?? [])
        : await this.additional.stored(dynamicPropsId, workspaceId, component.id);
    for (let calls = 1; ; calls++) {
      const props = withDynamicProps(component.configurableProps, dynamicProps);
      const known = [...secrets, ...secretsIn(props, values)];
      const next = await this.additional.call({ workspaceId, component, values, dynamicProps, secrets: known });
      if (calls === MOST_CALLS || !mayAddMore(next, dynamicProps, values)) return next;
      dynamicProps = next;
    }
  }
}

/** True when a new prop has `reloadProps` and a value, which the last call did not see. */
const mayAddMore = (
  next: readonly ConfigurableProp[],
  before: readonly ConfigurableProp[],
  values: ConfiguredProps,
): boolean =>
  next.some(
    ({ name, reloadProps }) =>
      reloadProps === true && Object.hasOwn(values, name) && !before.some((prop) => prop.name === name),
  );
