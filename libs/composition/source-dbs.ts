import { accountAuths } from '#libs/accounts/index.js';
import { type Config } from '#libs/config/index.js';
import { laneStateOf } from '#libs/runner/lane-state.js';
import { secretsOf } from '#libs/runner/outcome/prop-secrets.js';
import { SecretMask } from '#libs/runner/outcome/secret-mask.js';
import { propBinder } from '#libs/runner/prop-binder.js';
import { sourceStateOf } from '#libs/runner/source/source-state.js';
import { boundValue, type SourceDbs } from '#libs/sources/index.js';
import { type ControlPlane } from './control-plane.js';

/** A read asks no token server. What expired is masked as it was. */
const NO_REFRESH = { freshen: () => undefined };

/** Reads the state of sources without becoming their owner, and masks what their logs mask. */
export const sourceDbs = ({ engines, views }: ControlPlane, { accountEnv }: Config): SourceDbs => {
  const { journal, vault } = engines;
  const env = { allowed: accountEnv, values: process.env };
  // An endpoint is masked by its key, so its address is not needed.
  const binder = propBinder(vault, (key) => key, boundValue, accountAuths(views.accounts, vault, env, NO_REFRESH));
  return {
    of: async (sourceId, workspaceId, definition) => {
      const [parts, bound] = await Promise.all([
        journal.partsOf({ executable: sourceId }),
        binder.bind(workspaceId, definition),
      ]);
      const { db } = sourceStateOf(laneStateOf({ version: 0, head: '', parts }).own);
      const mask = new SecretMask(secretsOf(definition, bound));
      return Object.fromEntries(Object.entries(db).map(([key, text]) => [mask.text(key), mask.json(text)]));
    },
  };
};
