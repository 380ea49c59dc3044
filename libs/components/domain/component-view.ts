import { epochSeconds } from '#libs/kernel/clock.js';
import { type ConfigurableProp } from '../../component-model/component-metadata.js';
import { type SavedComponent } from './component.js';

/** See docs/reference/rest-api.md#component-fields. Absent values are null. Times are epoch seconds. */
export interface ComponentReply {
  readonly id: string;
  readonly code: string;
  readonly code_hash: string;
  readonly name: string;
  readonly version: string;
  readonly key: string | null;
  readonly type: 'source' | 'action';
  readonly description: string | null;
  readonly annotations: Readonly<Record<string, unknown>> | null;
  readonly url: string | null;
  readonly configurable_props: readonly ConfigurableProp[];
  readonly created_at: number;
  readonly updated_at: number;
}

export const componentReply = (component: SavedComponent, code: string): ComponentReply => ({
  id: component.componentId,
  code,
  code_hash: component.codeHash,
  name: component.name,
  version: component.version,
  key: component.key,
  type: component.kind,
  description: component.description,
  annotations: component.annotations,
  url: component.url,
  configurable_props: component.configurableProps,
  created_at: epochSeconds(component.createdAt),
  updated_at: epochSeconds(component.updatedAt),
});
