import { schemaFor } from '#libs/workflow-files/index.js';
import { type Session } from '../author/session.js';
import { faultsIn, VALIDATE } from './check-on-server.js';
import { CommandFailure } from '../author/failure.js';

type Definition = Readonly<Record<string, unknown>>;

/**
 * The schema of a definition in a file. An imported workflow may name accounts of another installation, which only the
 * schema of imported files allows, so it keeps that one.
 */
export const schemaToWrite = async (session: Session, definition: Definition): Promise<string> => {
  const schema = schemaFor(definition);
  const mayBeImported = definition['schema'] === undefined && JSON.stringify(definition).includes('authProvisionId');
  if (schema === IMPORTED || !mayBeImported) return schema;
  try {
    await session.plain({ method: 'POST', path: VALIDATE, body: { ...definition, schema } });
    return schema;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.code !== 'invalid_definition') throw error;
    return faultsIn(error).some(isOfProp) ? IMPORTED : schema;
  }
};

const IMPORTED = 'workflow/2022.04';

const isOfProp = ({ path, code }: { readonly path: string; readonly code: string }): boolean =>
  code === 'unresolved' && /\.props\b/.test(path);
