import { type ConfigurableProp } from '../../../component-model/component-metadata.js';
import { type BoundProp } from '../../sandbox.js';

export interface RealmSettings {
  readonly sourceId: string;
  readonly props: Readonly<Record<string, BoundProp>>;
  readonly dynamicProps: readonly ConfigurableProp[];
  readonly db: Readonly<Record<string, string>>;
  readonly inspect: boolean;
  readonly platform: string;
  readonly version: string;
}
