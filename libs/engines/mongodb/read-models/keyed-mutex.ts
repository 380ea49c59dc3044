/** Runs work under one key strictly in the order of the calls. */
export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>();

  of<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    this.last.set(key, result);
    const done = (): void => {
      if (this.last.get(key) === result) this.last.delete(key);
    };
    result.then(done, done);
    return result;
  }
}
