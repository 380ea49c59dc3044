import { Expressions } from '#libs/expressions/index.js';
import { type JailLevel } from '#libs/sandbox/index.js';

/** Processes that stay warm. Each is of one workspace. */
const MOST_WARM = 16;

/** A process of expressions for each workspace, started with its first expression. */
export class ExpressionRealms {
  private readonly realms = new Map<string, Expressions>();
  private readonly leaving = new Set<Promise<void>>();

  constructor(
    private readonly level: JailLevel,
    private readonly onFailure: (error: unknown) => void,
  ) {}

  of(workspaceId: string): Expressions {
    const realm = this.realms.get(workspaceId) ?? new Expressions(this.level);
    // The map keeps the most recently used realm last.
    this.realms.delete(workspaceId);
    this.realms.set(workspaceId, realm);
    const [oldest] = this.realms;
    if (this.realms.size > MOST_WARM && oldest) {
      this.realms.delete(oldest[0]);
      this.end(oldest[1]);
    }
    return realm;
  }

  async close(): Promise<void> {
    for (const realm of this.realms.values()) this.end(realm);
    this.realms.clear();
    await Promise.all(this.leaving);
  }

  /** Calls that wait for the realm are answered first. */
  private end(realm: Expressions): void {
    const closed: Promise<void> = realm
      .close()
      .catch(this.onFailure)
      .finally(() => this.leaving.delete(closed));
    this.leaving.add(closed);
  }
}
