import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleComponent, type BundleInput } from './bundler.js';
import { type ComponentMetadata } from './component-metadata.js';
import { type Inspector } from './inspector.js';

/** Code in, what runs and what it declares out. Leaves nothing behind. Rejects as bundler and inspector do. */
export const readComponent = async (
  inspector: Inspector,
  input: BundleInput,
): Promise<{ readonly bundle: string; readonly metadata: ComponentMetadata }> => {
  const { bundle } = await bundleComponent(input);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-inspect-'));
  try {
    const file = join(folder, 'bundle.cjs');
    await writeFile(file, bundle);
    return { bundle, metadata: await inspector.inspectComponent(file) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
