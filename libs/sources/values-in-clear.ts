import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type ConfiguredProps } from './domain/props.js';
import { SECRET_MASK } from './domain/secret-mask.js';
import { type SourceRecord } from './domain/source.js';

export interface GivenValues {
  readonly given: ConfiguredProps;
  readonly workspaceId: string;
  /** The source that is updated. */
  readonly source?: SourceRecord | undefined;
}

/** The values after the operation, with secrets in clear. Adds the stored secrets among them to `secrets`. */
export const valuesInClear = async (
  vault: Vault,
  { given, workspaceId, source }: GivenValues,
  secrets: string[],
): Promise<ConfiguredProps> => {
  const values = new Map<string, unknown>();
  for (const stored of source?.definition.props ?? []) {
    const { prop } = stored;
    if ('value' in stored) values.set(prop, stored.value);
    if (stored.kind === 'timer') values.set(prop, { cron: stored.cron, intervalSeconds: stored.intervalSeconds });
    if (stored.kind !== 'secret') continue;
    const text = await vault.get(stored.secretRef, workspaceId);
    if (text === undefined) continue;
    secrets.push(text);
    values.set(prop, text);
  }
  for (const [name, value] of Object.entries(given)) if (value !== SECRET_MASK) values.set(name, value);
  return Object.fromEntries(values);
};

/** Texts of secret props among the values. */
export const secretsIn = (props: readonly ConfigurableProp[], values: ConfiguredProps): readonly string[] =>
  props.flatMap(({ name, secret }) => {
    const value = secret === true && Object.hasOwn(values, name) ? values[name] : undefined;
    return typeof value === 'string' ? [value] : [];
  });
