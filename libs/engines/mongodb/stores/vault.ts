import { Binary, type Collection, type Db } from 'mongodb';
import { type Vault } from '#libs/kernel/vault.js';
import { SecretSeal } from '../../sealed-secret.js';
import { documentsById } from '../documents-by-id.js';
import { DURABLE } from '../durable.js';

interface SecretDocument {
  readonly _id: string;
  readonly workspace: string;
  readonly sealed: Binary;
}

/** Vault in MongoDB with a document per secret, sealed before it leaves the process. */
export class MongoVault implements Vault {
  private readonly secrets: Collection<SecretDocument>;
  private readonly seal: SecretSeal;

  /** `secretKey`: 32 bytes. */
  constructor(db: Db, secretKey: Buffer, previousKey?: Buffer) {
    this.secrets = db.collection<SecretDocument>('secrets', DURABLE);
    this.seal = new SecretSeal(secretKey, previousKey);
  }

  async put(ref: string, workspaceId: string, plaintext: string): Promise<void> {
    const sealed = new Binary(this.seal.seal(ref, workspaceId, plaintext));
    await this.secrets.replaceOne({ _id: ref }, { workspace: workspaceId, sealed }, { upsert: true });
  }

  async get(ref: string, workspaceId: string): Promise<string | undefined> {
    const found = await this.secrets.findOne({ _id: ref, workspace: workspaceId });
    return found ? this.seal.open(ref, workspaceId, found.sealed.value()) : undefined;
  }

  async delete(ref: string): Promise<void> {
    await this.secrets.deleteOne({ _id: ref });
  }

  async *entries(): AsyncIterable<{ ref: string; workspaceId: string; plaintext: string }> {
    for await (const { _id: ref, workspace: workspaceId, sealed } of documentsById(this.secrets)) {
      yield { ref, workspaceId, plaintext: this.seal.open(ref, workspaceId, sealed.value()) };
    }
  }
}
