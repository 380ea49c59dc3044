import { type Vault } from '#libs/kernel/vault.js';
import { SecretSeal } from '../../sealed-secret.js';
import { pagesByKey } from '../pages.js';
import { type Database } from '../writer/sqlite-driver.js';
import { type Writer } from '../writer/writer.js';

export interface SecretRow {
  readonly ref: string;
  readonly workspace: string;
  readonly sealed: Uint8Array;
}

/** Vault in data.db. */
export class EmbeddedVault implements Vault {
  private readonly seal: SecretSeal;

  constructor(
    private readonly writer: Writer,
    private readonly reader: Database,
    key: Buffer,
    previousKey?: Buffer,
  ) {
    this.seal = new SecretSeal(key, previousKey);
  }

  async put(ref: string, workspaceId: string, plaintext: string): Promise<void> {
    const sealed = this.seal.seal(ref, workspaceId, plaintext);
    await this.writer.submit('put_secret', { ref, workspace: workspaceId, sealed }, { bytes: sealed.length + 200 });
  }

  async get(ref: string, workspaceId: string): Promise<string | undefined> {
    const row = this.reader
      .sql('SELECT sealed FROM secrets WHERE ref = ? AND workspace = ?')
      .get<{ sealed: Uint8Array }>(ref, workspaceId);
    return row && this.seal.open(ref, workspaceId, row.sealed);
  }

  async delete(ref: string): Promise<void> {
    await this.writer.submit('delete_secret', ref);
  }

  async *entries(): AsyncIterable<{ ref: string; workspaceId: string; plaintext: string }> {
    for (const { ref, workspace, sealed } of sealedSecrets(this.reader)) {
      yield { ref, workspaceId: workspace, plaintext: this.seal.open(ref, workspace, sealed) };
    }
  }
}

/** Every secret of data.db, as it is stored. */
export const sealedSecrets = (reader: Database): Iterable<SecretRow> => {
  const page = reader.sql('SELECT ref, workspace, sealed FROM secrets WHERE ref > ? AND ref <= ? ORDER BY ref LIMIT ?');
  return pagesByKey<SecretRow>(
    reader.sql('SELECT max(ref) AS last FROM secrets').get<{ last: string | null }>()?.last,
    (after, last, limit) => page.all(after, last, limit),
    ({ ref }) => ref,
  );
};
