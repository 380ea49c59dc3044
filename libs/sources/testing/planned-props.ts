import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { DomainError } from '#libs/kernel/domain-error.js';
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
export const stored = (over: Partial<NonNullable<PropRequest['stored']>>): PropRequest['stored'] => ({
  values: {},
  endpoints: [],
  timers: [],
  ...over,
});
export const refusal = (act: () => unknown): DomainError => {
  try {
    act();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
};
