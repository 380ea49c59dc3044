import { writeFileSync } from 'node:fs';

/** Names the file for the reporter below. */
export const RUNNING_SPECS = 'SLUICE_TEST_RUNNING_SPECS';

/** A reporter for Jest. It keeps a file with the specs that have begun and not ended, for a run that hangs and is killed. */
export default class RunningSpecs {
  private readonly running = new Set<string>();

  onTestFileStart({ path }: { readonly path: string }): void {
    this.running.add(path);
    this.write();
  }

  onTestFileResult({ path }: { readonly path: string }): void {
    this.running.delete(path);
    this.write();
  }

  private write(): void {
    const file = process.env[RUNNING_SPECS];
    if (file !== undefined) writeFileSync(file, [...this.running].join('\n'));
  }
}
