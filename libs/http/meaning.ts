const MEANINGS = Symbol('meanings');

/** Description of a field of a DTO in the OpenAPI document: its meaning, with unit and default where it has one. */
export const Meaning =
  (text: string): PropertyDecorator =>
  (target, field) => {
    const own = Object.hasOwn(target, MEANINGS) ? meaningsIn(target) : { ...meaningsIn(target) };
    Object.defineProperty(target, MEANINGS, { value: { ...own, [field]: text }, configurable: true });
  };

/** Descriptions by field, with those of the classes that it extends. */
export const meaningsOf = (dto: abstract new (...args: never[]) => object): Readonly<Record<string, string>> =>
  meaningsIn(dto.prototype as object);

const meaningsIn = (prototype: object): Readonly<Record<string, string>> =>
  (Reflect.get(prototype, MEANINGS) as Readonly<Record<string, string>> | undefined) ?? {};
