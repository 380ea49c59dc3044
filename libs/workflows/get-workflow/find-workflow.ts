import { type Caller } from '#libs/http/callers.js';
import { externalIdIn } from '#libs/http/workflow-in-path.js';
import { workspaceOf } from '#libs/http/workspace.js';
import { isIdOf } from '#libs/kernel/ids.js';
import { type ReadModelStore } from '#libs/kernel/read-model-store.js';
import { WORKFLOWS, type WorkflowDoc } from '../read-models/workflows.projection.js';

/** The workflow that a path names, for a read. Throws workspace.required for an external id. */
export const findWorkflow = async (
  readModels: ReadModelStore,
  w: string,
  caller: Caller,
): Promise<WorkflowDoc | undefined> => {
  const externalId = externalIdIn(w);
  if (externalId !== undefined) {
    const where = { workspaceId: workspaceOf(caller), externalId };
    const { docs } = await readModels.page<WorkflowDoc>(WORKFLOWS, { where, limit: 1, withTotal: false });
    return docs[0];
  }
  const doc = isIdOf('p', w) ? await readModels.get<WorkflowDoc>(WORKFLOWS, w) : undefined;
  return doc && caller.workspaceIds.includes(doc.workspaceId) ? doc : undefined;
};
