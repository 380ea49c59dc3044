/** Lines of a command that takes long, to the person who waits for it. */
export const tell = (text: string): void => void process.stdout.write(`${text}\n`);

export const tellProgress = (what: string, records: number): void => tell(`  ${what.padEnd(34)} ${records}`);

/** An engine failed under a read model that is being made. */
export const tellRetry = (name: string, { message }: Error): void =>
  void process.stderr.write(`  ${name}: ${message}; once more from the oldest event\n`);
