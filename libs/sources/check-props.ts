import { Inject, Injectable } from '@nestjs/common';
import { type ConfigurableProp } from '#libs/component-model/component-metadata.js';
import { type Clock } from '#libs/kernel/clock.js';
import { DomainError } from '#libs/kernel/domain-error.js';
import { CLOCK } from '#libs/kernel/tokens.js';
import { type Warning } from '#libs/kernel/warning.js';
import { type ConfiguredProps, planProps } from './domain/props.js';
import { type Accounts, ACCOUNTS } from './ports.js';
import { accountIdOf, type PlannedProp, type PropChecks, type PropFault } from './published.js';

/** Faults of one component's props. A caller shows no more. */
const MAX_FAULTS = 50;

/** Plans the props, as a deployment does, and again without each prop that is wrong. */
@Injectable()
export class PlannedPropChecks implements PropChecks {
  constructor(
    @Inject(ACCOUNTS) private readonly accounts: Accounts,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  check(
    props: readonly ConfigurableProp[],
    given: ConfiguredProps,
    workspaceId: string,
    stored?: readonly PlannedProp[],
  ): { readonly faults: readonly PropFault[]; readonly warnings: readonly Warning[] } {
    const faults: PropFault[] = [];
    const left = { props: [...props], given: new Map(Object.entries(given)) };
    while (faults.length < MAX_FAULTS) {
      const planned = this.plan(left.props, Object.fromEntries(left.given), workspaceId, stored);
      if (!(planned instanceof DomainError)) return { faults, warnings: planned };
      const fault = this.faultOf(planned, left.props, given, workspaceId);
      faults.push(fault);
      if (fault.prop === undefined) break;
      left.props = left.props.filter(({ name }) => name !== fault.prop);
      left.given.delete(fault.prop);
    }
    return { faults, warnings: [] };
  }

  private plan(
    props: readonly ConfigurableProp[],
    given: ConfiguredProps,
    workspaceId: string,
    stored: readonly PlannedProp[] | undefined,
  ): readonly Warning[] | DomainError {
    try {
      const { warnings } = planProps({
        props,
        given,
        ...(stored === undefined ? {} : { stored }),
        appOf: (id) => this.accounts.find(id, workspaceId)?.app,
        now: this.clock.now(),
        newEndpointKey: () => '',
        newSecretRef: () => '',
      });
      return warnings;
    } catch (error) {
      if (error instanceof DomainError) return error;
      throw error;
    }
  }

  private faultOf(
    error: DomainError,
    props: readonly ConfigurableProp[],
    given: ConfiguredProps,
    workspaceId: string,
  ): PropFault {
    const { message, details = {} } = error;
    const named = typeof details['prop'] === 'string' ? details['prop'].replace(/(?:\[\d+\])+$/, '') : undefined;
    const prop = props.find(({ name }) => name === named);
    const at = prop && { prop: prop.name };
    if (error.code === 'source.missing_prop') return { kind: 'missing', message, ...at };
    const accountId = prop?.type === 'app' ? accountIdOf(given[prop.name]) : undefined;
    const isUnknown = accountId !== undefined && this.accounts.find(accountId, workspaceId) === undefined;
    return { kind: isUnknown ? 'unknown_account' : 'limit' in details ? 'range' : 'type', message, ...at };
  }
}
