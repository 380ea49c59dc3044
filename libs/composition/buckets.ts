import { type Config } from '#libs/config/index.js';
import { type OpenBucket } from '#libs/delivery/message-object.js';

/** The bucket of that name that the setting SLUICE_S3 opens to the workspace. */
export const openBucket = ({ s3 }: Pick<Config, 's3'>, name: string, workspaceId: string): OpenBucket | undefined => {
  const found = s3.find(
    ({ bucket, workspaces }) => bucket === name && (workspaces === null || workspaces.includes(workspaceId)),
  );
  if (!found) return undefined;
  const { workspaces: _, ...bucket } = found;
  return bucket;
};
