/** The name and the explanation of each stage of a walk. */
import { IWalk } from '../generated/walk';
import { translated } from './words';

export interface IWords {
  label: string;
  title: string;
  words: string;
  formula?: string;
}

/** The texts of a stage; an unknown stage is named after its matrix. */
export function describeStage(stage: {
  name: string;
  code?: IWalk['stages'][number]['code'];
  matrices?: IWalk['stages'][number]['matrices'];
}): IWords {
  const all: Record<string, () => IWords> = {
    text: () => ({
      label: translated('text'),
      title: translated('Text'),
      words: translated('The text, split into tokens. Point at one to highlight it everywhere on this page.')
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
        'Each id selects a row of a learned table. If the model has learned position embeddings, positions have a table too.'
      )
    }),
    into: () => ({
      label: translated('layer input'),
      title: translated('Input vectors'),
      words: translated('What this layer reads: one vector for each position.')
    }),
    qkv: () => ({
      label: 'Q, K, V',
      title: translated('Queries, keys, values'),
      words: translated(
        'Three linear maps of the vectors: what a position looks for, what it can be found by, and what it passes on.'
      ),
      formula: 'Q = x W_Q,  K = x W_K,  V = x W_V'
    }),
    scores: () => ({
      label: translated('scores'),
      title: translated('Scores'),
      words: translated('The product of every query with every key: the larger, the better they match.'),
      formula: 'S = Q Kᵀ · scale'
    }),
    mask: () => ({
      label: translated('mask'),
      title: translated('Mask'),
      words: translated('Hidden positions get a score of −∞, so their weight becomes 0.'),
      formula: 'S[i, j] = −∞  where hidden'
    }),
    softmax: () => ({
      label: translated('softmax'),
      title: translated('Weights that sum to 1'),
      words: translated('Scores become weights: positive, and each row sums to 1.'),
      formula: 'A[i, j] = exp S[i, j] / Σ exp S[i, ·]'
    }),
    mix: () => ({
      label: translated('mix'),
      title: translated('Weighted sum of values'),
      words: translated('Each position gets the sum of all values, weighted by its row of weights.'),
      formula: 'A V'
    }),
    'feed-forward': () => ({
      label: translated('feed-forward'),
      title: translated('Feed-forward'),
      words: translated(
        'Each vector by itself: projected to a larger width, passed through the activation, projected back.'
      ),
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
    all[stage.name] ?? ((): IWords => ({ label: name, title: name, words: translated('An intermediate result.') }))
  )();
}
