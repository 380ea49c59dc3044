/**
 * Runs works one after another, in the order of the calls. On an empty queue a work starts within the call. A failed
 * work does not keep the next from running.
 */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();
  private pending = 0;

  /** Number of works that have not ended. */
  get size(): number {
    return this.pending;
  }

  /** Settles as the work does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.pending++ === 0 ? started(work) : this.last.then(work);
    const ended = (): void => {
      this.pending--;
    };
    // The caller handles the failure.
    this.last = turn.then(ended, ended);
    return turn;
  }

  /** Resolves when every work queued so far has ended. Never rejects. */
  async idle(): Promise<void> {
    await this.last;
  }
}

/** One SerialQueue a key. Works of different keys run side by side. */
export class KeyedMutex<K = string> {
  private readonly queues = new Map<K, SerialQueue>();

  /** Settles as the work does. */
  run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(key) ?? new SerialQueue();
    this.queues.set(key, queue);
    const turn = queue.run(work);
    const ended = (): void => {
      if (queue.size === 0 && this.queues.get(key) === queue) this.queues.delete(key);
    };
    void queue.idle().then(ended);
    return turn;
  }

  /** Number of keys with work that has not ended. */
  get size(): number {
    return this.queues.size;
  }
}

/** Calls the work at once, and turns what it throws into a rejection. */
const started = async <T>(work: () => Promise<T>): Promise<T> => work();
