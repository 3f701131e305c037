/** From logits to the distribution that the next token is drawn from. */
import { softmax } from './transformer';

export interface ISampling {
  temperature: number;
  /** Only so many tokens are left; 0: all. */
  topK: number;
  /** The most likely tokens are left until their sum reaches this (Holtzman et al. 2020, arXiv:1904.09751). */
  topP: number;
}

export interface ICandidate {
  token: number;
  /** The probability before anything is left out. */
  p: number;
  /** The probability among those that are left: 0 if it is left out. */
  drawn: number;
}

/** All tokens that are allowed, the most likely first. A temperature of 0 leaves the most likely one. */
export function distribution(
  logits: Float32Array,
  { temperature, topK, topP }: ISampling,
  allowed: (token: number) => boolean = () => true
): ICandidate[] {
  const order = softmax(logits, Math.max(temperature, 1e-3))
    .map((p, token) => ({ token, p, drawn: 0 }))
    .filter(one => allowed(one.token))
    .sort((a, b) => logits[b.token] - logits[a.token]);
  let [kept, sum] = [0, 0];
  for (const one of order) {
    if (kept > 0 && ((topK > 0 && kept >= topK) || sum >= topP)) {
      break;
    }
    [kept, sum] = [kept + 1, sum + one.p];
  }
  order.slice(0, kept).forEach(one => (one.drawn = one.p / sum));
  return order;
}

/** The token that a random number from 0 to 1 draws from the distribution. */
export function sample(candidates: ICandidate[], random: number): number {
  let sum = 0;
  const found = candidates.find(one => (sum += one.drawn) > random);
  return (found ?? candidates[0]).token;
}
