import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { tooManyProps } from '#libs/component-model/prop-limits.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ConfiguredValue, type Endpoint, type SourceDefinition, type Timer } from '../published.js';
import { checkAccount, noAccount } from './account-value.js';
import { allowedIn, misspeltKeys, misspeltWarning, optionWarnings } from './given-props.js';
import { invalidProp, missingProp, toldOf } from './prop-error.js';
import { withNotes } from './prop-notes.js';
import { requestValueOf } from './http-request-value.js';
import { normalisedValue } from './prop-value.js';
import { sameJson } from './same-json.js';
import { SECRET_MASK } from './secret-mask.js';
import { timerOf } from './timer-value.js';

export type ConfiguredProps = Readonly<Record<string, unknown>>;

export interface PropPlan {
  readonly values: Readonly<Record<string, ConfiguredValue>>;
  readonly endpoints: readonly Endpoint[];
  readonly timers: readonly Timer[];
  readonly dbProps: readonly string[];
  readonly appProps: readonly string[];
  readonly requestProps: readonly string[];
  readonly dirProps: readonly string[];
  /** Props of type data_store that have a value. */
  readonly storeProps: readonly string[];
  /** Texts to store in the vault before the definition is used. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  /** What was given or declared, is accepted, and is probably not meant. */
  readonly warnings: readonly Warning[];
}

export interface PropRequest {
  readonly props: readonly ConfigurableProp[];
  /** Warnings about the component. A refusal repeats those about its prop. */
  readonly componentWarnings?: readonly Warning[] | undefined;
  /** Values as the caller sent them. Props that the component lacks are dropped. */
  readonly given: ConfiguredProps;
  /** Set on update. A null in `given` removes a value, an absent key keeps it, and endpoints keep their keys. */
  readonly stored?: Pick<SourceDefinition, 'values' | 'endpoints' | 'timers'>;
  /** App of an account of the workspace. */
  readonly appOf: (accountId: string) => string | undefined;
  readonly now: number;
  /** Makes `e` and 15 random base-36 characters. */
  readonly newEndpointKey: () => string;
  readonly newSecretRef: () => string;
}

/**
 * Checks configured_props against the component's props and turns them into the values of a run. See
 * docs/reference/rest-api.md#configured-props. Throws source.invalid_prop or source.missing_prop for the first wrong
 * prop in declaration order.
 */
export const planProps = (request: PropRequest): PropPlan => {
  try {
    return planned(request);
  } catch (error) {
    throw withNotes(error, request.componentWarnings);
  }
};

const planned = (request: PropRequest): PropPlan => {
  const plan = {
    values: new Map<string, ConfiguredValue>(),
    endpoints: [] as Endpoint[],
    timers: [] as Timer[],
    dbProps: [] as string[],
    appProps: [] as string[],
    requestProps: [] as string[],
    dirProps: [] as string[],
    storeProps: [] as string[],
    secrets: [] as { ref: string; text: string }[],
    warnings: [] as Warning[],
  };
  const fault = tooManyProps(request.props);
  if (fault) throw invalidProp(fault.prop, `one of at most ${fault.limit} ${fault.what}`, fault.count, fault.limit);
  for (const prop of request.props) planProp(prop, request, plan);
  const misspelt = misspeltKeys(request.given, request.props).map((key) => misspeltWarning(key, request.props));
  plan.warnings.unshift(...misspelt);
  const values = Object.fromEntries(plan.values);
  checkTotal(values, plan.secrets);
  return { ...plan, values };
};

/** UTF-8 bytes of all values of a source as JSON. They are part of its events, of lists and of each start. */
export const MAX_TOTAL_BYTES = 1024 * 1024;

const checkTotal = (values: PropPlan['values'], secrets: PropPlan['secrets']): void => {
  const actual = secrets.reduce(
    (sum, { text }) => sum + Buffer.byteLength(text),
    Buffer.byteLength(JSON.stringify(values)),
  );
  if (actual <= MAX_TOTAL_BYTES) return;
  throw new DomainError(
    'source.invalid_prop',
    `configured_props: all values together have ${actual} bytes, the limit is ${MAX_TOTAL_BYTES}: make them smaller`,
    { field: 'configured_props', limit: MAX_TOTAL_BYTES, actual },
  );
};

interface Draft {
  readonly values: Map<string, ConfiguredValue>;
  readonly endpoints: Endpoint[];
  readonly timers: Timer[];
  readonly dbProps: string[];
  readonly appProps: string[];
  readonly requestProps: string[];
  readonly dirProps: string[];
  readonly storeProps: string[];
  readonly secrets: { ref: string; text: string }[];
  readonly warnings: Warning[];
}

const planProp = (prop: ConfigurableProp, request: PropRequest, draft: Draft): void => {
  const { name } = prop;
  const given = Object.hasOwn(request.given, name) ? request.given[name] : undefined;
  switch (prop.type) {
    case '$.interface.http': {
      const key = request.stored?.endpoints.find((endpoint) => endpoint.prop === name)?.key ?? request.newEndpointKey();
      draft.endpoints.push({ prop: name, key, customResponse: prop.customResponse === true });
      return;
    }
    case '$.interface.timer': {
      const stored = request.stored?.timers.find((timer) => timer.prop === name);
      const timer = timerOf(prop, given, stored, request.now);
      if (timer) draft.timers.push(timer);
      return;
    }
    case '$.service.db':
      draft.dbProps.push(name);
      return;
    case '$.interface.apphook':
    case 'alert':
      return;
    case 'dir':
      draft.dirProps.push(name);
      return;
    default: {
      if (prop.type === 'app') draft.appProps.push(name);
      const value = valueOf(prop, given, request, draft);
      if (!value && prop.type === 'app' && !request.stored) draft.warnings.push(noAccount(prop));
      if (!value) return;
      draft.values.set(name, value);
      if (prop.type === 'http_request') draft.requestProps.push(name);
      if (prop.type === 'data_store') draft.storeProps.push(name);
    }
  }
};

/** Takes the given value, else the stored one, else the default. Undefined for a prop that may lack a value. */
const valueOf = (
  prop: ConfigurableProp,
  given: unknown,
  request: PropRequest,
  draft: Draft,
): ConfiguredValue | undefined => {
  const stored = storedValue(request, prop.name);
  if (given === SECRET_MASK && (prop.secret === true || (stored && 'secretRef' in stored))) {
    if (stored) return kept(prop, stored, request, draft);
    throw invalidProp(prop.name, 'the secret itself', `the mask ${SECRET_MASK}, but no secret is stored`);
  }
  if (given !== undefined && given !== null) {
    const value = configured(prop, given, request, draft);
    if (!isStored(stored, given)) checkAccount(prop, value, request.appOf);
    draft.warnings.push(...optionWarnings(prop, given));
    return value;
  }
  if (given === undefined && stored) return kept(prop, stored, request, draft);
  if (prop.default !== undefined && prop.default !== null) {
    const value = configured(prop, prop.default, request, draft);
    checkAccount(prop, value, request.appOf);
    return value;
  }
  if (mayBeWithout(prop)) return undefined;
  throw missing(prop, request);
};

/** True for a value of a reply that is sent back. It was accepted once and stays so. */
const isStored = (stored: ConfiguredValue | undefined, given: unknown): boolean =>
  stored !== undefined && 'value' in stored && sameJson(stored.value, given);

const missing = ({ name, type }: ConfigurableProp, { given, props }: PropRequest): DomainError => {
  const misspelt = misspeltKeys(given, props).find(({ meant }) => meant === name);
  return misspelt === undefined ? missingProp(name, type) : missingProp(name, type, misspelt.given, allowedIn(props));
};

/**
 * No caller can fill in a hidden or disabled prop, and an app may need no account. See
 * docs/reference/component-model.md#prop-required.
 */
const mayBeWithout = ({ optional, hidden, disabled, type }: ConfigurableProp): boolean =>
  optional === true || hidden === true || disabled === true || type === 'app';

const storedValue = (request: PropRequest, name: string): ConfiguredValue | undefined =>
  request.stored && Object.hasOwn(request.stored.values, name) ? request.stored.values[name] : undefined;

/** Checks a stored value again, because the component may have changed. A secret stays secret, whatever code says. */
const kept = (prop: ConfigurableProp, stored: ConfiguredValue, request: PropRequest, draft: Draft): ConfiguredValue =>
  // A request that was stored before its fields were checked stays as it is.
  'secretRef' in stored || (prop.type === 'http_request' && isRequest(stored.value))
    ? stored
    : configured(prop, stored.value, request, draft);

const isRequest = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

const configured = (prop: ConfigurableProp, given: unknown, request: PropRequest, draft: Draft): ConfiguredValue => {
  if (prop.secret !== true) {
    const value = normalisedValue(prop, given);
    if (prop.type === 'http_request') return configuredRequest(prop, value as ConfiguredProps, request, draft);
    return prop.withLabel === true ? { value, withLabel: true } : { value };
  }
  if (prop.type !== 'string') {
    throw invalidProp(prop.name, 'of type string, because it is secret (an error in the component)', prop.type);
  }
  const text = normalisedValue(prop, given);
  if (typeof text !== 'string') throw invalidProp(prop.name, 'a string', toldOf(prop, given));
  const ref = request.newSecretRef();
  draft.secrets.push({ ref, text });
  return { secretRef: ref };
};

/** The secrets of a request go into the vault. The value keeps their masks. */
const configuredRequest = (
  prop: ConfigurableProp,
  given: ConfiguredProps,
  request: PropRequest,
  draft: Draft,
): ConfiguredValue => {
  const stored = storedValue(request, prop.name);
  const storedRef = stored && 'value' in stored ? stored.authRef : undefined;
  const { value, secrets } = requestValueOf(prop, given, storedRef !== undefined);
  if (secrets === undefined) return { value };
  if (secrets === null && storedRef !== undefined) return { value, authRef: storedRef };
  const ref = request.newSecretRef();
  draft.secrets.push({ ref, text: secrets ?? '' });
  return { value, authRef: ref };
};
