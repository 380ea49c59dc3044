import { type AxiosInterceptorManager, type AxiosInterceptorOptions } from 'axios';

type Handlers<V> = [
  fulfilled?: ((value: V) => V | Promise<V>) | null,
  rejected?: ((error: unknown) => unknown) | null,
  options?: AxiosInterceptorOptions,
];

/** Interceptors of an instance of axios that may not exist yet. They are added in their order when it is created. */
export class LateInterceptors<V> {
  private readonly waiting = new Map<number, Handlers<V>>();
  /** Number in the instance, by the number that `use` returned. */
  private readonly numbers = new Map<number, number>();
  private next = 0;
  private instance: AxiosInterceptorManager<V> | undefined;

  use(...handlers: Handlers<V>): number {
    const number = this.next++;
    if (this.instance) this.numbers.set(number, this.instance.use(...handlers));
    else this.waiting.set(number, handlers);
    return number;
  }

  eject(number: number): void {
    this.waiting.delete(number);
    const its = this.numbers.get(number);
    if (its !== undefined) this.instance?.eject(its);
    this.numbers.delete(number);
  }

  clear(): void {
    this.waiting.clear();
    this.numbers.clear();
    this.instance?.clear();
  }

  moveTo(instance: AxiosInterceptorManager<V>): void {
    this.instance = instance;
    for (const [number, handlers] of this.waiting) this.numbers.set(number, instance.use(...handlers));
    this.waiting.clear();
  }
}
