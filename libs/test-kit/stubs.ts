import { distance } from 'fastest-levenshtein';
import { fitsPattern } from './fits-pattern.js';
import { type Request, type Stub } from './published.js';

/** Longest address that is compared with others. */
const COMPARED = 300;

/** The stubs of a test, and how often each answered. */
export class Stubs {
  private readonly used = new Map<Stub, number>();

  constructor(private readonly stubs: readonly Stub[]) {}

  /** The first stub that fits, which counts as used. */
  take(request: Request): Stub | undefined {
    const found = this.stubs.find((stub) => this.isLeft(stub) && fits(stub, request));
    if (found) this.used.set(found, (this.used.get(found) ?? 0) + 1);
    return found;
  }

  /** Says that nothing answers a request, and what nearly does. */
  refusal(request: Request): string {
    const told = `no stub answers ${request.method} ${request.url}`;
    if (this.stubs.length === 0) return `${told}, and the test has no stubs: give it { http: [{ url, reply }] }`;
    const [nearest] = [...this.stubs].sort((a, b) => unlikeness(a, request) - unlikeness(b, request));
    return nearest === undefined ? told : `${told}. The nearest is ${this.described(nearest, request)}`;
  }

  private isLeft(stub: Stub): boolean {
    return (this.used.get(stub) ?? 0) < (stub.times ?? Infinity);
  }

  private described(stub: Stub, request: Request): string {
    const { method = 'any method', url, times = Infinity } = stub;
    const why = !this.isLeft(stub)
      ? `, which answered ${times} time${times === 1 ? '' : 's'} already`
      : fitsAddress(stub, request) && fitsMethod(stub, request)
        ? `, whose body is another: ${JSON.stringify(stub.body)}`
        : '';
    return `${method} ${String(url)}${why}`;
  }
}

const fitsMethod = ({ method }: Stub, request: Request): boolean =>
  method === undefined || method.toUpperCase() === request.method;

const fitsAddress = ({ url }: Stub, request: Request): boolean => {
  if (typeof url !== 'string') return fitsPattern(url, request.url);
  const wanted = normalUrl(url);
  return wanted === request.url || (!wanted.includes('?') && wanted === request.url.split('?', 1)[0]);
};

const fits = (stub: Stub, request: Request): boolean =>
  fitsMethod(stub, request) &&
  fitsAddress(stub, request) &&
  (stub.body === undefined || contains(request.body, stub.body));

/** As a request has it: `https://a.example` is `https://a.example/`. */
const normalUrl = (url: string): string => (URL.canParse(url) ? new URL(url).href : url);

/** Whether a value has all of another, at any depth. Lists are equal in length. */
const contains = (value: unknown, part: unknown): boolean => {
  if (Array.isArray(part))
    return Array.isArray(value) && value.length === part.length && part.every((each, at) => contains(value[at], each));
  if (typeof part !== 'object' || part === null) return Object.is(value, part);
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(part).every(([key, each]) => contains((value as Record<string, unknown>)[key], each))
  );
};

const unlikeness = (stub: Stub, request: Request): number =>
  (fitsMethod(stub, request) ? 0 : 5) +
  (fitsAddress(stub, request) ? 0 : distance(String(stub.url).slice(0, COMPARED), request.url.slice(0, COMPARED)) + 1);
