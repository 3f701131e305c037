/**
 * Llama's forward pass (Touvron et al. 2023, arXiv:2302.13971) in plain loops, one position after the other with a cache of keys
 * and values: it shows the attention of every head, and what the model would say after each layer. play.spec.ts holds it
 * to the numbers that tests/tools/test_playground.py computes with tfkit.
 */

export interface IConfig {
  width: number;
  layers: number;
  heads: number;
  theta: number;
  eps: number;
}

/** A matrix in bytes, each row with a scale of its own; or a vector of float32 without scales. Both in base64. */
export interface IPacked {
  shape: number[];
  data: string;
  scales?: string;
}

type Matrix = { rows: number; columns: number; values: Float32Array };

export interface IGuess {
  token: number;
  p: number;
}

/** What the model computed at a position. */
export interface IPosition {
  token: number;
  /** weights[layer][head][key], for the keys up to this position */
  weights: number[][][];
  /** The most likely next tokens after the embedding and after each layer. */
  lens: IGuess[][];
  logits: Float32Array;
}

type Cached = IPosition & { keys: Float32Array[]; values: Float32Array[] };

const GUESSES = 5;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const signs = atob(base64);
  const bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at++) {
    bytes[at] = signs.charCodeAt(at);
  }
  return bytes;
}

/** The numbers of a packed tensor. */
export function unpack({ shape, data, scales }: IPacked): Matrix {
  const [rows, columns] = shape.length > 1 ? shape : [1, shape[0]];
  const bytes = bytesOf(data);
  if (scales === undefined) {
    return { rows, columns, values: new Float32Array(bytes.buffer) };
  }
  const steps = new Float32Array(bytesOf(scales).buffer);
  const [whole, values] = [new Int8Array(bytes.buffer), new Float32Array(rows * columns)];
  for (let row = 0, at = 0; row < rows; row++) {
    for (const end = at + columns; at < end; at++) {
      values[at] = whole[at] * steps[row];
    }
  }
  return { rows, columns, values };
}

/** matrix [rows,columns] times x [columns] -> [rows] */
function times({ rows, columns, values }: Matrix, x: Float32Array): Float32Array {
  const out = new Float32Array(rows);
  for (let row = 0, at = 0; row < rows; row++) {
    let sum = 0;
    for (let column = 0; column < columns; column++, at++) {
      sum += values[at] * x[column];
    }
    out[row] = sum;
  }
  return out;
}

const add = (x: Float32Array, y: Float32Array): Float32Array => x.map((value, at) => value + y[at]);

/** Shares of a whole: exp(logit / temperature), divided by their sum. */
export function softmax(logits: ArrayLike<number>, temperature = 1): number[] {
  const scaled = Array.from(logits, logit => logit / temperature);
  const most = scaled.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = scaled.map(value => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map(power => power / sum);
}

/** The tokens with the largest logits, with their probabilities; all logits are not sorted for them, five times a position. */
export function likeliest(logits: Float32Array, count: number): IGuess[] {
  const best: number[] = [];
  logits.forEach((logit, token) => {
    if (best.length < count || logit > logits[best[count - 1]]) {
      const place = best.findIndex(other => logit > logits[other]);
      best.splice(place < 0 ? best.length : place, 0, token);
      best.length = Math.min(best.length, count);
    }
  });
  const most = logits[best[0]];
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0);
  return best.map(token => ({ token, p: Math.exp(logits[token] - most) / sum }));
}

export class Transformer {
  constructor(
    readonly config: IConfig,
    packed: Record<string, IPacked>
  ) {
    this.tensors = Object.fromEntries(Object.entries(packed).map(([name, tensor]) => [name, unpack(tensor)]));
  }

  /** All positions of a text. Those of the beginning that it shares with the last text are not computed again. */
  read(tokens: number[]): IPosition[] {
    let same = 0;
    while (same < tokens.length && this.positions[same]?.token === tokens[same]) {
      same++;
    }
    this.positions.length = same;
    tokens.slice(same).forEach(token => this.positions.push(this.step(token)));
    return this.positions;
  }

  private step(token: number): Cached {
    const { width, layers } = this.config;
    const embed = this.tensors['embed.weight'];
    let x: Float32Array = embed.values.slice(token * width, (token + 1) * width);
    const made: Cached = { token, weights: [], lens: [], logits: x, keys: [], values: [] };
    made.lens.push(likeliest(this.logitsOf(x), GUESSES));
    for (let layer = 0; layer < layers; layer++) {
      x = add(x, this.attend(layer, x, made));
      x = add(x, this.feedForward(layer, x));
      made.logits = this.logitsOf(x);
      made.lens.push(likeliest(made.logits, GUESSES));
    }
    return made;
  }

  /** The attention of a layer over this position and all before it; keeps its weights, key and value. */
  private attend(layer: number, x: Float32Array, made: Cached): Float32Array {
    const { width, heads } = this.config;
    const [normed, size] = [this.norm(`layers.${layer}.norm1`, x), width / heads];
    const project = (name: string, of: Float32Array): Float32Array =>
      times(this.tensors[`layers.${layer}.attn.${name}_proj.weight`], of);
    const query = this.rotate(project('q', normed));
    made.keys.push(this.rotate(project('k', normed)));
    made.values.push(project('v', normed));
    const mixed = new Float32Array(width);
    const past = [...this.positions, made];
    made.weights.push(
      Array.from({ length: heads }, (_, head) => {
        const from = head * size;
        const dot = (key: Float32Array): number => {
          let sum = 0;
          for (let at = from; at < from + size; at++) {
            sum += query[at] * key[at];
          }
          return sum / Math.sqrt(size);
        };
        const weights = softmax(past.map(one => dot(one.keys[layer])));
        weights.forEach((weight, key) => {
          for (let at = from; at < from + size; at++) {
            mixed[at] += weight * past[key].values[layer][at];
          }
        });
        return weights;
      })
    );
    return project('o', mixed);
  }

  /** Turn each pair of columns (i, i + half of a head) by an angle that grows with the position (RoPE). */
  private rotate(x: Float32Array): Float32Array {
    const { width, heads, theta } = this.config;
    const [size, place, out] = [width / heads, this.positions.length, x.slice()];
    for (let from = 0; from < width; from += size) {
      for (let i = 0; i < size / 2; i++) {
        const [angle, first, second] = [place * theta ** ((-2 * i) / size), from + i, from + i + size / 2];
        out[first] = x[first] * Math.cos(angle) - x[second] * Math.sin(angle);
        out[second] = x[second] * Math.cos(angle) + x[first] * Math.sin(angle);
      }
    }
    return out;
  }

  /** SwiGLU: down(silu(gate(x)) · up(x)) */
  private feedForward(layer: number, x: Float32Array): Float32Array {
    const normed = this.norm(`layers.${layer}.norm2`, x);
    const part = (name: string): Matrix => this.tensors[`layers.${layer}.ff.${name}.weight`];
    const up = times(part('up'), normed);
    const inner = times(part('gate'), normed).map((value, at) => (value / (1 + Math.exp(-value))) * up[at]);
    return times(part('down'), inner);
  }

  /** What the model would say of x if no layer followed: the logits of all tokens. */
  private logitsOf(x: Float32Array): Float32Array {
    return times(this.tensors['embed.weight'], this.norm('norm', x));
  }

  private norm(name: string, x: Float32Array): Float32Array {
    const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + this.config.eps);
    const { values } = this.tensors[`${name}.weight`];
    return x.map((value, at) => value * scale * values[at]);
  }

  private readonly tensors: Record<string, Matrix>;
  private readonly positions: Cached[] = [];
}
