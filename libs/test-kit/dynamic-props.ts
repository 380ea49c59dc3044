import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { sameJson } from '#libs/kernel/same-json.js';
import { parseProps, type RunOutcome } from '#libs/sandbox/index.js';
import { bindProps, type BoundProps, type PropsRequest } from './bound-props.js';

/** Calls of additionalProps for one test, as for one deployment. A prop that it adds may add further ones. */
const MOST_CALLS = 5;

/** Binds the props of a component, with those that its additionalProps adds. Throws when the component refuses. */
export const bindAllProps = async (
  request: PropsRequest,
  /** Calls additionalProps with these props. */
  ask: (props: BoundProps) => Promise<RunOutcome>,
): Promise<BoundProps> => {
  if (!request.metadata.hasAdditionalProps) return bindProps(request);
  let dynamicProps: readonly ConfigurableProp[] = [];
  for (let calls = 1; calls <= MOST_CALLS; calls++) {
    const next = propsIn(await ask(await bindProps({ ...request, dynamicProps, mayLackProps: true })));
    if (sameJson(next, dynamicProps)) break;
    dynamicProps = next;
  }
  return bindProps({ ...request, dynamicProps });
};

const propsIn = ({ error, value }: RunOutcome): readonly ConfigurableProp[] => {
  if (error) throw new Error(`additionalProps failed: ${error.name}: ${error.message}`);
  return parseProps(value ?? '{"props":[]}');
};
