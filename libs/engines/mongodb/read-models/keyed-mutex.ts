/** Work under one key runs one after the other, in the order in which it was asked for. */
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
