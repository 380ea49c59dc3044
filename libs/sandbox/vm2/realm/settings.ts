import { type BoundProp } from '../../sandbox.js';

export interface RealmSettings {
  readonly sourceId: string;
  readonly props: Readonly<Record<string, BoundProp>>;
  readonly db: Readonly<Record<string, string>>;
  readonly inspect: boolean;
  readonly platform: string;
  readonly version: string;
}
