import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import { type BoundProp } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';

/** Returns the texts that no log of this definition may show. */
export const secretsOf = (
  definition: SourceDefinition,
  bound: Readonly<Record<string, BoundProp>>,
): readonly string[] =>
  definition.props.flatMap((planned) => {
    if (planned.kind === 'http') return planned.key;
    const value = bound[planned.prop];
    if (value?.kind === 'request') return requestSecretsOf(value.value);
    if (value?.kind === 'app') return textsIn(value.auth);
    return planned.kind === 'secret' && value?.kind === 'value' ? textsIn(value.value) : [];
  });

/** Returns every text within credentials. */
export const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** Returns the password or token of a configured request, both plain and as it is sent. */
const requestSecretsOf = ({ auth }: ConfiguredRequest): readonly string[] => {
  const { type, username, password, token } = auth ?? {};
  const basic = type === 'basic' ? [Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')] : [];
  return [password, token, ...basic].filter((secret) => typeof secret === 'string');
};
