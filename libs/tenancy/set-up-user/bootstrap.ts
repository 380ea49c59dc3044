import { setUpUser, type SetUpDependencies, type SetUpResult } from './set-up-user.js';

/**
 * What the first start makes: the owner, a workspace and an API key (`givenKey`: SLUICE_API_KEY). Every later start does
 * it again and finds it done; a new SLUICE_API_KEY is issued beside the keys that are in force, which stay valid until
 * they are revoked. Call it when the CallersView behind `keysInHand` has caught up, and in one process at a time.
 */
export const bootstrap = (deps: SetUpDependencies, givenKey: string | undefined): Promise<SetUpResult> =>
  setUpUser(deps, {
    username: 'owner',
    email: 'owner@localhost',
    workspaceName: 'My workspace',
    ...(givenKey === undefined ? {} : { givenKey }),
  });
