import { OWNER, setUpUser, type SetUpDependencies, type SetUpResult } from './set-up-user.js';

/**
 * Makes the owner, a workspace and an API key at the first start. `givenKey` is SLUICE_API_KEY. Later starts repeat it
 * and change nothing. A new SLUICE_API_KEY is issued beside the valid keys, which stay valid until they are revoked.
 * Call it in one process at a time, after the CallersView has caught up.
 */
export const bootstrap = (deps: SetUpDependencies, givenKey: string | undefined): Promise<SetUpResult> =>
  setUpUser(deps, {
    ...OWNER,
    workspaceName: 'My workspace',
    ...(givenKey === undefined ? {} : { givenKey }),
  });
