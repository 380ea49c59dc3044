import { type ConfigurableProp } from './component-metadata.js';

/** Limits on the props of one component that cost the server resources for each source. */
const LIMITS: readonly { readonly what: string; readonly limit: number; readonly is: (prop: Counted) => boolean }[] = [
  { what: 'props of type $.interface.timer', limit: 20, is: ({ type }) => type === '$.interface.timer' },
  { what: 'props of type $.interface.http', limit: 20, is: ({ type }) => type === '$.interface.http' },
  // Each may cost a deployment one call of the component.
  { what: 'props of type $.interface.apphook', limit: 5, is: ({ type }) => type === '$.interface.apphook' },
  { what: 'secret props', limit: 50, is: ({ secret }) => secret === true },
];

type Counted = Pick<ConfigurableProp, 'name' | 'type' | 'secret'>;

export interface TooManyProps {
  /** The first prop beyond the limit. */
  readonly prop: string;
  readonly what: string;
  readonly limit: number;
  readonly count: number;
}

/** Returns the first limit that the props of a component exceed; undefined when they keep all limits. */
export const tooManyProps = (props: readonly Counted[]): TooManyProps | undefined => {
  for (const { what, limit, is } of LIMITS) {
    const counted = props.filter(is);
    const beyond = counted[limit];
    if (beyond) return { prop: beyond.name, what, limit, count: counted.length };
  }
  return undefined;
};
