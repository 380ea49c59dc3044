import { Inject, Injectable } from '@nestjs/common';
import { type CallOutcome } from '#libs/component-model/component-call.js';
import { eventNamesFault } from '#libs/component-model/app-hooks.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { COMPONENT_CALLS, type ComponentCalls } from '../ports.js';
import { type AdditionalPropsRequest, type EventNames, withDynamicProps } from '../published.js';

/** Calls eventNames of apphooks (docs/reference/component-model.md#apphook-event-names). */
@Injectable()
export class CalledEventNames implements EventNames {
  constructor(@Inject(COMPONENT_CALLS) private readonly calls: ComponentCalls) {}

  async call(request: AdditionalPropsRequest, prop: string): Promise<readonly string[] | null> {
    const { component, dynamicProps, ...rest } = request;
    const outcome = await this.calls.call({
      ...rest,
      bundleHash: component.bundleHash,
      props: withDynamicProps(component.configurableProps, dynamicProps),
      dynamicProps,
      call: { kind: 'event_names', prop },
    });
    return namesIn(outcome, prop);
  }
}

/** Checks the answer, which comes from a process that ran the component's code. */
const namesIn = ({ status, value, error }: CallOutcome, prop: string): readonly string[] | null => {
  if (status !== 'ok' || value === undefined) {
    const told = error ? `${error.name}: ${error.message}` : 'ProcessExited: its process sent no answer';
    throw failed(prop, `failed: ${told}`);
  }
  const answer: unknown = JSON.parse(value);
  const names = typeof answer === 'object' && answer !== null && 'eventNames' in answer ? answer.eventNames : null;
  if (names === null) return null;
  if (!Array.isArray(names)) throw failed(prop, `must return a list of texts, not ${kindOf(names)}`);
  const wrong = names.findIndex((name) => typeof name !== 'string');
  if (wrong !== -1) throw failed(prop, `must return a list of texts; entry ${wrong} is ${kindOf(names[wrong])}`);
  const texts = names.map((name) => String(name).toWellFormed());
  const fault = eventNamesFault(texts);
  if (fault !== undefined) throw failed(prop, `returned ${fault}`);
  return [...new Set(texts)];
};

const kindOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'object'
        ? 'an object'
        : `a ${typeof value}`;

const failed = (prop: string, what: string): DomainError =>
  new DomainError('component.event_names_failed', `eventNames of prop ${prop} ${what}`, { prop });
