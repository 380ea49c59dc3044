import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type PlannedProp } from '../published.js';
import { planProps, type PropPlan, type PropRequest } from '../domain/props.js';

export const plan = (
  props: readonly ConfigurableProp[],
  given: Readonly<Record<string, unknown>> = {},
  stored?: PropRequest['stored'],
): PropPlan => planOf({ props, given, ...(stored ? { stored } : {}) });

export const planOf = (request: Omit<PropRequest, 'appOf' | 'now' | 'newEndpointKey' | 'newSecretRef'>): PropPlan => {
  let n = 0;
  return planProps({
    ...request,
    appOf: (id) => (id === 'apn_slack' ? 'slack' : undefined),
    now: Date.UTC(2026, 0, 1),
    newEndpointKey: () => `ekey${++n}`,
    newSecretRef: () => `sec_${++n}`,
  });
};
export const prop = (type: string, over: Partial<ConfigurableProp> = {}): ConfigurableProp => ({
  name: 'p',
  type,
  ...over,
});
/** Values of the props of a plan by name, without props that have none. */
export const valuesOf = ({ props }: PropPlan): Readonly<Record<string, object>> =>
  Object.fromEntries(
    props.flatMap(({ kind: _, prop: name, ...held }) =>
      'value' in held || 'secretRef' in held ? [[name, held] as const] : [],
    ),
  );

const KINDS: Readonly<Record<string, 'app' | 'store' | 'request'>> = {
  app: 'app',
  data_store: 'store',
  http_request: 'request',
};

/** A prop of the type after a deployment. */
export const held = (type: string, parts: { value: unknown; secretRef?: string } | { secretRef: string }, name = 'p') =>
  ({ kind: KINDS[type] ?? ('value' in parts ? 'value' : 'secret'), prop: name, ...parts }) as PlannedProp;
export const refusal = (act: () => unknown): DomainError => {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
