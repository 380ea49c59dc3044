const FIRST = 52_000;
const COUNT = 8_000;

/**
 * Users for jailed processes, one each while it lives, so that per-user limits and files are its own. Numbers without an
 * account, below 65,536 so that they exist in a container's user namespace too. None unless the server is root.
 */
class Uids {
  private readonly taken = new Set<number>();
  /** Two servers on one machine should not begin with the same ones: limits are counted per user. */
  private next = (process.pid * 101) % COUNT;

  take(): number | null {
    if (process.getuid?.() !== 0) return null;
    for (let tries = 0; tries < COUNT; tries++) {
      const uid = FIRST + (this.next++ % COUNT);
      if (this.taken.has(uid)) continue;
      this.taken.add(uid);
      return uid;
    }
    throw new Error(`all ${COUNT} users for sandboxes are in use`);
  }

  give(uid: number | null): void {
    if (uid !== null) this.taken.delete(uid);
  }
}

export const uids = new Uids();
