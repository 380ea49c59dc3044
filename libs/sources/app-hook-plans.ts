import { Inject, Injectable } from '@nestjs/common';
import { APP_EVENT_LIMITS } from '#libs/component-model/app-event-limits.js';
import { APP_HOOK, appHookFault, appPropOf, eventNamesFault } from '#libs/component-model/app-hooks.js';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import {
  type DeployableComponent,
  EVENT_NAMES,
  type EventNames,
  withDynamicProps,
} from '#libs/components/published.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { VAULT } from '#libs/kernel/tokens.js';
import { type Vault } from '#libs/kernel/vault.js';
import { type Warning } from '#libs/kernel/warning.js';
import { shown } from './domain/prop-error.js';
import { type AppHook, type SourceDefinition } from './published.js';
import { type GivenValues, secretsIn, valuesInClear } from './values-in-clear.js';

interface AppHookRequest extends GivenValues {
  readonly component: DeployableComponent;
}

interface PlannedAppHooks {
  readonly definition: SourceDefinition;
  readonly warnings: readonly Warning[];
}

/** Finds the events of apps that a source accepts (docs/reference/component-model.md#apphooks). */
@Injectable()
export class AppHookPlans {
  constructor(
    @Inject(EVENT_NAMES) private readonly names: EventNames,
    @Inject(VAULT) private readonly vault: Vault,
  ) {}

  /** Rejects with DomainError component.event_names_failed or source.invalid_prop. */
  async planned(definition: SourceDefinition, request: AppHookRequest): Promise<PlannedAppHooks> {
    const { configurableProps, warnings: known = [] } = request.component;
    const props = withDynamicProps(configurableProps, definition.dynamicProps ?? []);
    const apphooks: AppHook[] = [];
    const warnings: Warning[] = [];
    for (const hook of props.filter(({ type }) => type === APP_HOOK)) {
      const path = `props.${hook.name}`;
      const silent = (message: string): Warning => ({ code: 'silent_interface', message, path });
      const fault = appHookFault(hook, props);
      if (fault !== undefined && !known.some((warning) => warning.path === path && warning.message === fault))
        warnings.push(silent(fault));
      const app = appPropOf(hook, props);
      if (app === undefined) continue;
      const eventNames = await this.namesOf(hook, props, definition, request);
      if (eventNames?.length === 0)
        warnings.push(silent(`prop "${hook.name}": eventNames names no event, so no event of an app starts run`));
      else if (request.source === undefined) warnings.push(unfed(hook.name, app.app, eventNames?.[0]));
      apphooks.push({ kind: 'apphook', prop: hook.name, appProp: app.name, app: app.app, eventNames });
    }
    checkCount(apphooks);
    return { definition: { ...definition, props: [...definition.props, ...apphooks] }, warnings };
  }

  private async namesOf(
    hook: ConfigurableProp,
    props: readonly ConfigurableProp[],
    { dynamicProps = [] }: SourceDefinition,
    { component, given, workspaceId, source }: AppHookRequest,
  ): Promise<AppHook['eventNames']> {
    if (hook.eventNames !== undefined) {
      const fault = eventNamesFault(hook.eventNames);
      if (fault !== undefined) throw invalid(hook.name, `eventNames has ${fault}`);
      return [...new Set(hook.eventNames)];
    }
    // A function is not part of the description, so only a call shows whether it exists.
    const secrets: string[] = [];
    const values = await valuesInClear(this.vault, { given, workspaceId, source }, secrets);
    const known = [...secrets, ...secretsIn(props, values)];
    return this.names.call({ workspaceId, component, values, dynamicProps, secrets: known }, hook.name);
  }
}

/** Apps do not send events here on their own, so a new source is told which request brings it one. */
const unfed = (prop: string, app: string, eventName = 'EVENT'): Warning => ({
  code: 'unfed_apphook',
  message: `prop "${prop}": this server gets no events from the app ${shown(app)} on its own, so run starts only when a program posts them: POST /v1/apps/${/^[\w.-]{1,100}$/.test(app) ? app : '{slug}'}/events with {"event_name": ${shown(eventName)}, "payload": the event}`,
  path: `props.${prop}`,
});

const checkCount = (apphooks: readonly AppHook[]): void => {
  let count = 0;
  for (const { prop, eventNames } of apphooks) {
    count += eventNames?.length ?? 0;
    if (count <= APP_EVENT_LIMITS.names) continue;
    const limit = `at most ${APP_EVENT_LIMITS.names} event names of all apphooks of a source are allowed`;
    throw invalid(prop, `there are ${count} with those of this prop, ${limit}`);
  }
};

const invalid = (prop: string, message: string): DomainError =>
  new DomainError('source.invalid_prop', `prop ${prop} (${APP_HOOK}): ${message}`, { prop, type: APP_HOOK });
