import { DomainError } from '#libs/kernel/domain-error.js';
import { shownId } from '#libs/kernel/ids.js';
import { type VersionEntry, type WorkflowVersions } from './ports.js';

/** The version with this number, in its decimal form. Throws workflow.version_not_found. */
export const findVersion = (workflows: WorkflowVersions, id: string, number: string): VersionEntry => {
  const entry = workflows.versions(id).find(({ version }) => String(version) === number);
  if (!entry) throw versionNotFound(id, number);
  return entry;
};

export const versionNotFound = (id: string, number: string): DomainError =>
  new DomainError('workflow.version_not_found', `workflow ${id} has no version ${shownId(number)}`, {
    id,
    version: shownId(number),
  });
