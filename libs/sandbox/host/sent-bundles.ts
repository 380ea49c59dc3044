import { readFile } from 'node:fs/promises';

/** Bundles that a process got after its start, each once. */
export class SentBundles {
  private readonly numbers = new Map<string, Promise<number>>();
  private last = 0;

  constructor(private readonly send: (bundle: number, code: string) => void) {}

  /** Resolves with the number of a bundle, once it was sent. Rejects when it cannot be read. */
  sent(file: string): Promise<number> {
    const known = this.numbers.get(file);
    if (known) return known;
    const sent = this.sendFile(file, ++this.last);
    this.numbers.set(file, sent);
    return sent;
  }

  private async sendFile(file: string, bundle: number): Promise<number> {
    try {
      this.send(bundle, await readFile(file, 'utf8'));
      return bundle;
    } catch (error) {
      this.numbers.delete(file);
      throw error;
    }
  }
}
