/** What each stage of a walk is called, and what happens there. */
import { IWalk } from '../generated/walk';
import { translated } from './words';

export interface IWords {
  label: string;
  title: string;
  words: string;
  formula?: string;
}

/** The words of a stage; of one that is no common one, its code is the name. */
export function describeStage(stage: {
  name: string;
  code?: IWalk['stages'][number]['code'];
  matrices?: IWalk['stages'][number]['matrices'];
}): IWords {
  const all: Record<string, () => IWords> = {
    text: () => ({
      label: translated('text'),
      title: translated('Text'),
      words: translated('The text, cut into tokens. Point at one, and it lights up wherever it stands on this page.')
    }),
    ids: () => ({
      label: translated('ids'),
      title: translated('Ids'),
      words: translated('Each token is a number: its place in the vocabulary.')
    }),
    vectors: () => ({
      label: translated('vectors'),
      title: translated('Vectors'),
      words: translated(
        'Each id chooses a row of a learned table. Where the model counts positions in this way, they have a table too.'
      )
    }),
    into: () => ({
      label: translated('into the layer'),
      title: translated('Vectors that enter'),
      words: translated('What this layer reads: one vector for each position.')
    }),
    qkv: () => ({
      label: 'Q, K, V',
      title: translated('Queries, keys, values'),
      words: translated(
        'Three linear maps of the vectors: what a position looks for, what it offers, what it hands over.'
      ),
      formula: 'Q = x W_Q,  K = x W_K,  V = x W_V'
    }),
    scores: () => ({
      label: translated('scores'),
      title: translated('Scores'),
      words: translated('Every query with every key: the larger the product, the better they match.'),
      formula: 'S = Q Kᵀ · scale'
    }),
    mask: () => ({
      label: translated('mask'),
      title: translated('Mask'),
      words: translated('What may not be seen gets a score so low that nothing is left of it.'),
      formula: 'S[i, j] = −∞  where hidden'
    }),
    softmax: () => ({
      label: translated('softmax'),
      title: translated('Shares of one'),
      words: translated('Scores become weights: positive, and each row sums to 1.'),
      formula: 'A[i, j] = exp S[i, j] / Σ exp S[i, ·]'
    }),
    mix: () => ({
      label: translated('mix'),
      title: translated('A mixture of values'),
      words: translated('Each position takes the values of all others, by its weights.'),
      formula: 'A V'
    }),
    'feed-forward': () => ({
      label: translated('feed-forward'),
      title: translated('Feed-forward'),
      words: translated('Each vector alone: widened, bent by the activation, narrowed again.'),
      formula: 'W₂ f(W₁ x)'
    }),
    logits: () => ({
      label: translated('logits'),
      title: translated('From a vector to logits'),
      words: translated('The vector of the last position is compared with every word of the vocabulary.')
    }),
    drawn: () => ({
      label: translated('drawn token'),
      title: translated('Drawn token'),
      words: translated('The logits become probabilities, and one token is drawn. The next step begins with it.')
    })
  };
  const name = stage.matrices?.[0].name ?? stage.name;
  return (
    all[stage.name] ?? ((): IWords => ({ label: name, title: name, words: translated('This is computed in between.') }))
  )();
}
