import { comparable, valueAt, type WorkflowInFolder } from '#libs/workflow-files/index.js';
import { type Session } from '../author/session.js';
import { checkOnServer } from './check-on-server.js';
import { type FoundWorkflow } from './find-workflow.js';

/** As `comparable`, without the sources that the server would leave out (docs/reference/workflows.md#import-rule). */
export const comparedThere = async (
  session: Session,
  workflow: WorkflowInFolder,
  found: FoundWorkflow | undefined,
): Promise<ReturnType<typeof comparable>> => {
  const texts = comparable(workflow, found);
  if (texts.here === texts.there || !hasUntypedSource(workflow.definition)) return texts;
  const { warnings } = await checkOnServer(session, workflow, found, false);
  const ignored = warnings.flatMap(({ code, path }) =>
    code === 'trigger_ignored' ? [valueAt(workflow.definition, path)] : [],
  );
  return comparable(workflow, found, (id) => !ignored.includes(id));
};

const hasUntypedSource = ({ triggers }: WorkflowInFolder['definition']): boolean =>
  Array.isArray(triggers) &&
  (triggers as readonly { readonly type?: string; readonly id?: string }[]).some(
    ({ type, id }) => type === undefined && id?.startsWith('dc_') === true,
  );
