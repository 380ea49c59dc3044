import { Inject, Injectable } from '@nestjs/common';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { type CommandContext } from '#libs/kernel/handle-command.js';
import { newId } from '#libs/kernel/ids.js';
import { CLOCK, VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type PlannedProp, type PlannedSource, SECRET_MASK } from '#libs/sources/published.js';
import { type JsonObject } from './domain/check-shape.js';
import { isObject, objectIn } from './domain/definition-rules.js';
import { type StoredSource } from './domain/stored-version.js';

interface Copies {
  readonly stored: Pick<StoredSource, 'secrets'>;
  readonly secrets: readonly { readonly ref: string; readonly text: string }[];
}

/** Copies of the secrets of sources that belong to workflows, so that a version can be restored once its source is gone. */
@Injectable()
export class SourceSecrets {
  constructor(
    @Inject(VAULT) private readonly vault: Vault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Copies of the secrets of a planned source. Nothing of them is stored yet. */
  async of({ definition, plan }: PlannedSource, { workspaceId }: CommandContext): Promise<Copies> {
    const refs: [prop: string, ref: string][] = [];
    const secrets: { ref: string; text: string }[] = [];
    for (const planned of definition.props) {
      const from = secretRefOf(planned);
      if (from === undefined) continue;
      const given = plan.secrets.find(({ ref }) => ref === from)?.text;
      const text = given ?? (await this.vault.get(from, workspaceId));
      if (text === undefined) continue;
      const ref = newId('sec', this.clock.now());
      refs.push([planned.prop, ref]);
      secrets.push({ ref, text });
    }
    return { stored: refs.length === 0 ? {} : { secrets: Object.fromEntries(refs) }, secrets };
  }

  /**
   * The props with the secrets of a former source in place of their masks. A mask stays where the present source has the same
   * secret. Throws source.invalid_prop for a secret that is no longer stored.
   */
  async inClear(
    former: StoredSource,
    present: StoredSource | undefined,
    props: JsonObject,
    { workspaceId }: CommandContext,
  ): Promise<JsonObject> {
    const clear = new Map(Object.entries(props));
    for (const planned of former.definition.props) {
      const { prop } = planned;
      if (secretRefOf(planned) === undefined || !isMasked(props[prop])) continue;
      const text = await this.copyOf(former, prop, workspaceId);
      if (text === undefined)
        throw new DomainError('source.invalid_prop', `prop ${prop}: its secret is not stored any more`, { prop });
      if (present && (await this.copyOf(present, prop, workspaceId)) === text) continue;
      clear.set(prop, planned.kind === 'request' ? withSecrets(props[prop], text) : text);
    }
    return Object.fromEntries(clear);
  }

  private async copyOf({ secrets = {} }: StoredSource, prop: string, workspaceId: string): Promise<string | undefined> {
    const ref = secrets[prop];
    return ref === undefined ? undefined : this.vault.get(ref, workspaceId);
  }
}

const secretRefOf = (planned: PlannedProp): string | undefined =>
  'secretRef' in planned ? planned.secretRef : undefined;

const isMasked = (value: unknown): boolean =>
  value === SECRET_MASK || (isObject(value) && Object.values(objectIn(value, 'auth')).includes(SECRET_MASK));

/** A request whose vault record has the secret fields of its `auth`. */
const withSecrets = (value: unknown, text: string): unknown => {
  const secrets: unknown = JSON.parse(text);
  if (!isObject(value) || !isObject(secrets)) return value;
  const auth = objectIn(value, 'auth');
  const masked = Object.entries(secrets).filter(([field]) => auth[field] === SECRET_MASK);
  return { ...value, auth: { ...auth, ...Object.fromEntries(masked) } };
};
