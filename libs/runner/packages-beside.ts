import { type PackagesBeside } from '#libs/components/published.js';
import { type PackageLock } from '#libs/component-model/package-lock.js';
import { type BlobStore } from '#libs/kernel/blob-store.js';
import { type PackageSource, type SandboxPackages } from '#libs/sandbox/index.js';

/** Installs the packages of a lock for one process, until it ends. A failure is the platform's fault. */
export type InstallPackages = (workspaceId: string, beside: PackagesBeside) => Promise<SandboxPackages>;

export const installPackages =
  (blobs: Pick<BlobStore, 'get'>, packages: PackageSource): InstallPackages =>
  async (workspaceId, { lockHash, hasMachineCode }) => {
    const text = await blobs.get(lockHash);
    if (text === undefined) throw new Error(`the lock ${lockHash} of npm packages is not in the blob store`);
    const lock = JSON.parse(text) as PackageLock;
    const installed = await packages.install({ specifiers: Object.keys(lock.specifiers), workspaceId, lock });
    return { folder: installed.folder, hasMachineCode, release: () => installed.release() };
  };
