import { type ConfiguredRequest } from '#libs/component-model/http-request.js';
import { type BoundProp } from '#libs/sandbox/index.js';
import { type SourceDefinition } from '#libs/sources/published.js';

/** What a log of this definition may not show. */
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

/** Every text within credentials. */
export const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

/** What a configured request may not show in a log: its password or token, as it is sent too. */
const requestSecretsOf = ({ auth }: ConfiguredRequest): readonly string[] => {
  const { type, username, password, token } = auth ?? {};
  const basic = type === 'basic' ? [Buffer.from(`${username ?? ''}:${password ?? ''}`).toString('base64')] : [];
  return [password, token, ...basic].filter((secret) => typeof secret === 'string');
};
