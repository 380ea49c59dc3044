import { noAccount } from '#libs/component-model/account-warning.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { tooManyProps } from '#libs/component-model/prop-limits.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type PlannedProp, type RequestProp, type SecretProp } from '../published.js';
import { checkAccount } from './account-value.js';
import { allowedIn, misspeltKeys, misspeltWarning, optionWarnings } from './given-props.js';
import { invalidProp, missingProp, toldOf } from './prop-error.js';
import { withNotes } from './prop-notes.js';
import { requestValueOf } from './http-request-value.js';
import { normalisedValue } from './prop-value.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { SECRET_MASK } from './secret-mask.js';
import { timerOf } from './timer-value.js';

export type ConfiguredProps = Readonly<Record<string, unknown>>;

export interface PropPlan {
  readonly props: readonly PlannedProp[];
  /** Texts to store in the vault before the definition is used. */
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
  /** Warnings about accepted values and declarations that are probably mistakes. */
  readonly warnings: readonly Warning[];
}

export interface PropRequest {
  readonly props: readonly ConfigurableProp[];
  /** Warnings about the component. A refusal repeats those about its prop. */
  readonly componentWarnings?: readonly Warning[] | undefined;
  /** Values as the caller sent them. Props that the component lacks are dropped. */
  readonly given: ConfiguredProps;
  /** Set on update. A null in `given` removes a value, an absent key keeps it, and endpoints keep their keys. */
  readonly stored?: readonly PlannedProp[];
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
  const fault = tooManyProps(request.props);
  if (fault) throw invalidProp(fault.prop, `one of at most ${fault.limit} ${fault.what}`, fault.count, fault.limit);
  const draft: Draft = { stored: new Map(request.stored?.map((each) => [each.prop, each])), secrets: [], warnings: [] };
  const props = request.props.flatMap((prop) => planProp(prop, request, draft) ?? []);
  const misspelt = misspeltKeys(request.given, request.props).map((key) => misspeltWarning(key, request.props));
  const { secrets, warnings } = draft;
  checkTotal(props, secrets);
  return { props, secrets, warnings: [...misspelt, ...warnings] };
};

/** UTF-8 bytes of all values of a source as JSON. They are part of its events, of lists and of each start. */
export const MAX_TOTAL_BYTES = 1024 * 1024;

const checkTotal = (props: PropPlan['props'], secrets: PropPlan['secrets']): void => {
  const values = props.flatMap((planned) => ('value' in planned ? [[planned.prop, planned.value]] : []));
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
  readonly stored: ReadonlyMap<string, PlannedProp>;
  readonly secrets: { ref: string; text: string }[];
  readonly warnings: Warning[];
}

const planProp = (prop: ConfigurableProp, request: PropRequest, draft: Draft): PlannedProp | undefined => {
  const { name } = prop;
  const given = Object.hasOwn(request.given, name) ? request.given[name] : undefined;
  const stored = draft.stored.get(name);
  switch (prop.type) {
    case '$.interface.http': {
      const key = stored?.kind === 'http' ? stored.key : request.newEndpointKey();
      return { kind: 'http', prop: name, key, customResponse: prop.customResponse === true };
    }
    case '$.interface.timer':
      return timerOf(prop, given, stored?.kind === 'timer' ? stored : undefined, request.now);
    case '$.service.db':
      return { kind: 'db', prop: name };
    case 'dir':
      return { kind: 'dir', prop: name };
    case '$.interface.apphook':
    case 'alert':
      return undefined;
    case 'app': {
      const held = heldOf(prop, given, request, draft);
      if (held) return held;
      if (!request.stored) draft.warnings.push(noAccount(prop));
      return { kind: 'app', prop: name };
    }
    default:
      return heldOf(prop, given, request, draft);
  }
};

type HeldProp = SecretProp | Extract<PlannedProp, { readonly value?: unknown }>;

/** Returns the given value, else the stored one, else the default. Undefined for a prop that may lack a value. */
const heldOf = (prop: ConfigurableProp, given: unknown, request: PropRequest, draft: Draft): HeldProp | undefined => {
  const stored = storedOf(prop, draft);
  if (given === SECRET_MASK && (prop.secret === true || stored?.kind === 'secret')) {
    if (stored) return kept(prop, stored, request, draft);
    throw invalidProp(prop.name, 'the secret itself', `the mask ${SECRET_MASK}, but no secret is stored`);
  }
  if (given !== undefined && given !== null) {
    const held = configured(prop, given, request, draft);
    if (!isStored(stored, given)) checkAccount(prop, held, request.appOf);
    draft.warnings.push(...optionWarnings(prop, given));
    return held;
  }
  if (given === undefined && stored) return kept(prop, stored, request, draft);
  if (prop.default !== undefined && prop.default !== null) {
    const held = configured(prop, prop.default, request, draft);
    checkAccount(prop, held, request.appOf);
    return held;
  }
  if (mayBeWithout(prop)) return undefined;
  throw missing(prop, request);
};

/** True for a value of a reply that is sent back. It was accepted once and stays so. */
const isStored = (stored: HeldProp | undefined, given: unknown): boolean =>
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

/** An app has no use for a secret that its prop held under another type. */
const storedOf = ({ name, type }: ConfigurableProp, draft: Draft): HeldProp | undefined => {
  const stored = draft.stored.get(name);
  if (stored === undefined) return undefined;
  if (stored.kind === 'secret') return type === 'app' ? undefined : stored;
  return 'value' in stored ? stored : undefined;
};

/** Checks a stored value again, because the component may have changed. A secret stays secret, whatever code says. */
const kept = (prop: ConfigurableProp, stored: HeldProp, request: PropRequest, draft: Draft): HeldProp =>
  stored.kind === 'secret' || (stored.kind === 'request' && prop.type === 'http_request')
    ? stored
    : configured(prop, stored.value, request, draft);

const configured = (prop: ConfigurableProp, given: unknown, request: PropRequest, draft: Draft): HeldProp => {
  const { name, type } = prop;
  if (prop.secret === true) return configuredSecret(prop, given, request, draft);
  const value = normalisedValue(prop, given);
  switch (type) {
    case 'http_request':
      return configuredRequest(prop, value as ConfiguredProps, request, draft);
    case 'app':
      return { kind: 'app', prop: name, value };
    case 'data_store':
      return { kind: 'store', prop: name, value };
    default:
      return { kind: 'value', prop: name, value, ...(prop.withLabel === true ? { withLabel: true } : {}) };
  }
};

const configuredSecret = (
  prop: ConfigurableProp,
  given: unknown,
  { newSecretRef }: PropRequest,
  draft: Draft,
): SecretProp => {
  if (prop.type !== 'string') {
    throw invalidProp(prop.name, 'of type string, because it is secret (an error in the component)', prop.type);
  }
  const text = normalisedValue(prop, given);
  if (typeof text !== 'string') throw invalidProp(prop.name, 'a string', toldOf(prop, given));
  const secretRef = newSecretRef();
  draft.secrets.push({ ref: secretRef, text });
  return { kind: 'secret', prop: prop.name, secretRef };
};

/** The secrets of a request go into the vault. The value keeps their masks. */
const configuredRequest = (
  prop: ConfigurableProp,
  given: ConfiguredProps,
  { newSecretRef }: PropRequest,
  draft: Draft,
): RequestProp => {
  const stored = storedOf(prop, draft);
  const storedRef = stored?.kind === 'request' ? stored.secretRef : undefined;
  const { value, secrets } = requestValueOf(prop, given, storedRef !== undefined);
  const held = { kind: 'request', prop: prop.name, value } as const;
  if (secrets === undefined) return held;
  if (secrets === null && storedRef !== undefined) return { ...held, secretRef: storedRef };
  const secretRef = newSecretRef();
  draft.secrets.push({ ref: secretRef, text: secrets ?? '' });
  return { ...held, secretRef };
};
