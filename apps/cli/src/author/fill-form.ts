import { CommandFailure } from './failure.js';
import { type RemoteOptions, optionsIn } from './ask-options.js';
import { askProp, OptionsFailed } from './ask-prop.js';
import { type Component, propsIn } from './components.js';
import { type Context } from './context.js';
import { exactLine, type Fields, fieldText, isFields } from './json.js';
import { isMissing, nobodyToAsk, takesValue } from './prop-form.js';
import { type Prompts } from './prompts.js';
import { type Session } from './session.js';
import { harmless } from './text.js';

/** Values of props, and what `additionalProps` returned for them. */
export interface Filled {
  readonly values: Fields;
  readonly dynamicPropsId: string | undefined;
}

export interface FormOptions {
  /** For the text about what is missing. */
  readonly command: string;
  /** Ask also for what has a value. */
  readonly asksAll: boolean;
}

/** A stored secret, as replies show it. */
const MASK = '********';
/** Times that the props of a component may depend on a value before. */
const MOST_RELOADS = 100;

/** The props of one component while they get their values. */
export class PropForm {
  private props: readonly Fields[];
  private dynamicPropsId: string | undefined;
  private readonly values: Record<string, unknown>;
  private readonly asked = new Set<string>();
  /** Values that the props were last asked for, as JSON. */
  private loadedFor = '{}';

  constructor(
    private readonly context: Context,
    private readonly session: Session,
    private readonly component: Component,
    given: Fields,
    private readonly stored: Fields,
    private readonly options: FormOptions,
  ) {
    this.props = component.props;
    this.values = { ...given };
  }

  /** Asks for what is missing. Rejects with CommandFailure, which tells all that is, where nobody can be asked. */
  async fill(): Promise<Filled> {
    const { prompts } = this.context;
    if (prompts === undefined) await this.reloadUnasked();
    else await this.askAll(prompts);
    const missing = this.props.filter((prop) => isMissing(prop, this.values, this.stored));
    if (missing.length > 0) throw nobodyToAsk(this.options.command, missing);
    return { values: this.values, dynamicPropsId: this.dynamicPropsId };
  }

  /** Asks for the prop that a server refused. Rejects with the refusal when nobody can answer. */
  async askAgain(refusal: CommandFailure): Promise<Filled> {
    const { prompts, io } = this.context;
    const name = refusal.details['prop'];
    const prop = this.props.find((each) => each['name'] === name);
    if (prompts === undefined || prop === undefined || !REFUSED.has(refusal.code)) throw refusal;
    io.err(harmless(refusal.message));
    await this.ask(prompts, prop);
    return this.fill();
  }

  private async askAll(prompts: Prompts): Promise<void> {
    for (let round = 0; round < MOST_RELOADS; round++) {
      const next = this.props.find((prop) => this.isWanted(prop));
      // Props before the next one may bring others, which may stand before it, too.
      if (await this.reload(next)) continue;
      if (next === undefined) return;
      await this.ask(prompts, next);
      round = 0;
    }
  }

  private isWanted(prop: Fields): boolean {
    const name = fieldText(prop, 'name');
    if (this.asked.has(name) || !takesValue(prop)) return false;
    if (isMissing(prop, this.values, this.stored)) return true;
    if (Object.hasOwn(this.values, name)) return false;
    return (
      this.options.asksAll || (prop['type'] === 'app' && !Object.hasOwn(this.stored, name) && prop['optional'] !== true)
    );
  }

  private async ask(prompts: Prompts, prop: Fields): Promise<void> {
    const name = fieldText(prop, 'name');
    const { context, session } = this;
    const optionsOf = (each: Fields): RemoteOptions => this.remoteOptions(each);
    for (;;) {
      const value = await askProp({ context, prompts, session, optionsOf, former: this.formerOf(prop) }, prop);
      if (value !== undefined) this.values[name] = value;
      if (value !== undefined || !isMissing(prop, this.values, this.stored)) break;
      context.io.err('  It must have a value.');
    }
    this.asked.add(name);
  }

  /** A mask is no value that somebody could read. */
  private formerOf(prop: Fields): unknown {
    const name = fieldText(prop, 'name');
    const stored = this.stored[name] ?? prop['default'];
    return stored === MASK ? undefined : stored;
  }

  private effective(prop: Fields): unknown {
    const name = fieldText(prop, 'name');
    return this.values[name] ?? this.stored[name] ?? prop['default'];
  }

  /** Reads the props for the values of those with `reloadProps` that stand before the next one. */
  private async reload(next: Fields | undefined): Promise<boolean> {
    const at = next === undefined ? this.props.length : this.props.indexOf(next);
    const deciding = this.props.slice(0, at).filter((prop) => prop['reloadProps'] === true);
    const pairs = deciding.map((prop) => [fieldText(prop, 'name'), this.effective(prop)] as const);
    const wanted = exactLine(Object.fromEntries(pairs.filter(([, value]) => value !== undefined && value !== null)));
    if (wanted === this.loadedFor || wanted === '{}') return false;
    this.loadedFor = wanted;
    const { dynamic_props: reply } = await this.call('/v1/components/props', {});
    const id = fieldText(reply, 'id');
    if (id === '') return false;
    this.dynamicPropsId = id;
    this.props = propsIn(reply);
    return true;
  }

  private async reloadUnasked(): Promise<void> {
    try {
      await this.reload(undefined);
    } catch (error) {
      // What is missing may be the reason, and is told then.
      if (!(error instanceof CommandFailure) || error.code !== 'additional_props_failed') throw error;
    }
  }

  private remoteOptions(prop: Fields): RemoteOptions {
    return {
      usesQuery: prop['useQuery'] === true,
      read: async ({ page, context, query }) => {
        const reply = await this.call('/v1/components/configure', {
          prop_name: fieldText(prop, 'name'),
          page,
          prev_context: context,
          ...(query === undefined || query === '' ? {} : { query }),
        });
        const errors: readonly unknown[] = Array.isArray(reply['errors']) ? reply['errors'] : [];
        const [error] = errors;
        if (error !== undefined) throw new OptionsFailed(errorText(error));
        return { options: optionsIn(reply['options'] ?? reply['string_options']), context: reply['context'] ?? {} };
      },
    };
  }

  /** Stored values that are shown. */
  private known(): readonly (readonly [string, unknown])[] {
    const names = this.props.filter(takesValue).map((prop) => fieldText(prop, 'name'));
    return names.flatMap((name) => {
      const value = Object.hasOwn(this.stored, name) ? this.stored[name] : undefined;
      return value === undefined || value === MASK ? [] : [[name, value] as const];
    });
  }

  private call(path: string, more: Fields): Promise<Fields> {
    const body = {
      id: this.component.id,
      configured_props: { ...Object.fromEntries(this.known()), ...this.values },
      ...(this.dynamicPropsId === undefined ? {} : { dynamic_props_id: this.dynamicPropsId }),
      ...more,
    };
    return this.session.request({ method: 'POST', path, json: exactLine(body) });
  }
}

const REFUSED: ReadonlySet<string> = new Set(['invalid_prop', 'missing_prop']);

const errorText = (error: unknown): string => {
  if (typeof error === 'string') return error;
  return isFields(error) ? fieldText(error, 'message') || exactLine(error) : exactLine(error);
};
