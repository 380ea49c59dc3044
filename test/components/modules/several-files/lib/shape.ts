interface Shape {
  sides: number;
}

export const shape = (sides: number): Shape => ({ sides });
