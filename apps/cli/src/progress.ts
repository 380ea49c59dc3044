/** Prints a line of progress. */
export const tell = (text: string): void => void process.stdout.write(`${text}\n`);

export const tellProgress = (what: string, records: number): void => tell(`  ${what.padEnd(34)} ${records}`);

/** Reports that an engine failed while a read model was rebuilt. */
export const tellRetry = (name: string, { message }: Error): void =>
  void process.stderr.write(`  ${name}: ${message}; restarting from the oldest event\n`);
