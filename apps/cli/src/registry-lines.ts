import { type BuildStatus, type RegistrySource } from '#libs/components/index.js';

/** A server reports its progress every second while it builds. After this time without a report it has stopped. */
const SILENT_MS = 30_000;

export const revisionOf = ({ revision }: RegistrySource): string =>
  revision === null ? '' : ` (${revision.slice(0, 12)})`;

export const licenceOf = ({ license }: RegistrySource): string => `licence: ${license}`;

/** Output of `sluice registry list`: a line for each source, followed by its files that are being built or failed. */
export const registryLines = (
  sources: readonly RegistrySource[],
  status: BuildStatus | undefined,
  now: number,
): readonly string[] => {
  const names = new Set(sources.map(({ name }) => name));
  const others = Object.keys(status?.sources ?? {}).filter((name) => !names.has(name));
  return [
    ...sources.flatMap((source) => {
      const copied = `${source.from}${revisionOf(source)}  ${licenceOf(source)}  ${new Date(source.updatedAt).toISOString()}`;
      const isNewer = status !== undefined && source.updatedAt > status.startedAt;
      return [
        `${source.name.padEnd(24)}  ${copied}  ${howFar(source.name, isNewer ? undefined : status, now)}`,
        ...filesOf(source.name, isNewer ? undefined : status),
      ];
    }),
    ...others.flatMap((name) => [
      `${(name === '' ? '.' : name).padEnd(24)}  put there by hand  ${howFar(name, status, now)}`,
      ...filesOf(name, status),
    ]),
  ];
};

const howFar = (name: string, status: BuildStatus | undefined, now: number): string => {
  if (!status) return 'not built yet: a running server begins within seconds';
  const { files, done, failed } = status.sources[name] ?? { files: 0, done: 0, failed: 0 };
  const counts = `${done - failed} of ${files} ${files === 1 ? 'component' : 'components'} built`;
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  const isStopped = status.endedAt === null && done < files && now - status.updatedAt > SILENT_MS;
  const stopped = isStopped
    ? `; the server that built them has stopped at ${new Date(status.updatedAt).toISOString()}`
    : '';
  return `${counts}${failures}${stopped}`;
};

const filesOf = (name: string, status: BuildStatus | undefined): readonly string[] => {
  if (!status) return [];
  const isOf = (file: string): boolean => (file.includes('/') ? file.startsWith(`${name}/`) : name === '');
  const failed = status.failed.filter(({ path }) => isOf(path));
  const more = (status.sources[name]?.failed ?? 0) - failed.length;
  return [
    ...(status.endedAt === null ? status.building.filter(isOf).map((file) => `  building  ${file}`) : []),
    ...failed.map(({ path, reason }) => `  failed    ${path}: ${reason.replace(/\s+/g, ' ')}`),
    ...(more > 0 ? [`  failed    ${more} more`] : []),
  ];
};
