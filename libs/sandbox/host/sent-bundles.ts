import { readFile } from 'node:fs/promises';
import { type Bundle } from '../sandbox.js';

/** Bundles that a process got after its start, each once. */
export class SentBundles {
  private readonly numbers = new Map<string, Promise<number>>();
  private last = 0;

  constructor(private readonly send: (bundle: number, code: string) => void) {}

  /** Resolves with the number of a bundle, once it was sent. Rejects when it cannot be read. */
  sent(bundle: Bundle): Promise<number> {
    const known = this.numbers.get(bundle.hash);
    if (known) return known;
    const sent = this.sendFile(bundle, ++this.last);
    this.numbers.set(bundle.hash, sent);
    return sent;
  }

  private async sendFile({ hash, file }: Bundle, number: number): Promise<number> {
    try {
      this.send(number, await readFile(await file(), 'utf8'));
      return number;
    } catch (error) {
      this.numbers.delete(hash);
      throw error;
    }
  }
}
