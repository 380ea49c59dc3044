const FIRST = 52_000;
const COUNT = 8_000;

/**
 * User ids for jailed processes, one per live process, so that per-user limits and files are separate. The ids have no
 * account, and are below 65,536 so that they exist in a container's user namespace. None unless the server is root.
 */
class Uids {
  private readonly inUse = new Set<number>();
  /** Differs between servers on one machine, because limits are counted per user. */
  private next = (process.pid * 101) % COUNT;

  acquire(): number | null {
    if (process.getuid?.() !== 0) return null;
    for (let tries = 0; tries < COUNT; tries++) {
      const uid = FIRST + (this.next++ % COUNT);
      if (this.inUse.has(uid)) continue;
      this.inUse.add(uid);
      return uid;
    }
    throw new Error(`all ${COUNT} users for sandboxes are in use`);
  }

  release(uid: number | null): void {
    if (uid !== null) this.inUse.delete(uid);
  }
}

export const uids = new Uids();
