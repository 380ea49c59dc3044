import { BoundComponent, componentOf, type PropTools } from './component.js';
import { openMapped } from './load-bundle.js';

/** Code steps of one workflow in their process. Each is evaluated by its first call, with the variables of the process. */
export class StepBundles {
  private readonly waiting = new Map<number, Buffer>();
  private readonly loading = new Map<number, Promise<BoundComponent>>();

  constructor(private readonly tools: PropTools) {}

  add(bundle: number, raw: Buffer): void {
    this.waiting.set(bundle, raw);
  }

  /** Rejects with what the module threw. It is evaluated again by the next call. */
  component(bundle: number): Promise<BoundComponent> {
    const known = this.loading.get(bundle);
    if (known) return known;
    const loading = this.load(bundle);
    this.loading.set(bundle, loading);
    return loading;
  }

  private async load(bundle: number): Promise<BoundComponent> {
    const raw = this.waiting.get(bundle);
    if (!raw) throw new Error('the component is not loaded');
    try {
      const exports = await new Promise<() => unknown>((resolve) => openMapped(bundle, raw, resolve));
      const component = new BoundComponent(componentOf(exports()), {}, this.tools);
      this.waiting.delete(bundle);
      return component;
    } catch (thrown) {
      this.loading.delete(bundle);
      throw thrown;
    }
  }
}
