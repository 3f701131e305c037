/** A byte-level BPE (Sennrich et al. 2016, arXiv:1508.07909; Radford et al. 2019): the tokens of a text, in the browser. */

export interface IVocabulary {
  /** The token of each byte. */
  bytes: number[];
  /** The pairs of tokens that are joined, best first; the token of the first pair is `first`, and so on. */
  merges: [number, number][];
  first: number;
}

/** GPT-2's split into words: no pair is joined across them. */
const WORDS = /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
/** What is joined at a time: joining takes as long as the square of a word's length, and no real word is longer. */
const PARTS = /.{1,64}/gsu;

export class Tokenizer {
  constructor(private readonly vocabulary: IVocabulary) {
    vocabulary.merges.forEach(([left, right], rank) => this.ranks.set(`${left},${right}`, rank));
    vocabulary.bytes.forEach((id, byte) => this.pieces.set(id, [byte]));
    vocabulary.merges.forEach(([left, right], rank) =>
      this.pieces.set(vocabulary.first + rank, [...this.pieces.get(left)!, ...this.pieces.get(right)!])
    );
    this.pieces.forEach((_, id) => this.decode([id]).includes('\uFFFD') && this.halves.add(id));
  }

  encode(text: string): number[] {
    return (text.match(WORDS) ?? []).flatMap(word => word.match(PARTS) ?? []).flatMap(part => this.join(part));
  }

  /** The text of some tokens; a token that is half a character shows as `�`. */
  decode(ids: number[]): string {
    return new TextDecoder().decode(Uint8Array.from(ids.flatMap(id => this.pieces.get(id) ?? [])));
  }

  /** Whether a token is no part of a character, so that it can be shown and written. */
  isWhole(id: number): boolean {
    return !this.halves.has(id);
  }

  private join(word: string): number[] {
    const ids = Array.from(new TextEncoder().encode(word), byte => this.vocabulary.bytes[byte]);
    for (;;) {
      let [best, place] = [Infinity, -1];
      for (let at = 0; at + 1 < ids.length; at++) {
        const rank = this.ranks.get(`${ids[at]},${ids[at + 1]}`) ?? Infinity;
        if (rank < best) {
          [best, place] = [rank, at];
        }
      }
      if (place < 0) {
        return ids;
      }
      ids.splice(place, 2, this.vocabulary.first + best);
    }
  }

  private readonly ranks = new Map<string, number>();
  private readonly pieces = new Map<number, number[]>();
  private readonly halves = new Set<number>();
}
