/** What a student has built in each unit of the course, to follow "You built". */
import type { TranslationBundle } from '@jupyterlab/translation';

/** A sentence for a unit that is done; empty for a unit of another package. */
export function builtIn(unit: string, trans: TranslationBundle): string {
  const sentences: Record<string, string> = {
    '01-recurrence-to-attention': trans.__(
      'You built a memory that forgets, and the attention that made it unnecessary: every word looks at all others at once.'
    ),
    '02-masks': trans.__(
      'You built the masks that decide who may look at whom, and a softmax that survives a row with nothing to see.'
    ),
    '03-heads': trans.__('You built attention that looks in several ways at once, from one large product.'),
    '04-positions': trans.__(
      'You built five ways to tell a model the order of words, which attention alone cannot see.'
    ),
    '05-transformer': trans.__('You built a whole transformer, from its layers to the shift that lets it learn.'),
    '06-training': trans.__(
      'You built what trains a model: its loss, its schedule, its optimizer, the loop around them, and its vocabulary.'
    ),
    '07-decoding': trans.__(
      'You built the ways in which language models usually choose their words, and the cache that makes them quick.'
    ),
    '08-encoders': trans.__('You built the six puzzles from which encoders learn a language without labels.'),
    '09-decoders': trans.__(
      'You built decoders with a memory beyond their window, and with another order than left to right.'
    ),
    '10-seq2seq-objectives': trans.__(
      'You built the ways in which T5, BART and Pegasus damage a text so that a model learns to mend it, a loss over several words ahead, and the prefix mask.'
    ),
    '11-long-and-efficient': trans.__(
      'You built what makes long texts affordable: sparse and hashed attention, pooling, and layers that store less.'
    ),
    '12-images-retrieval-generation': trans.__(
      'You built models that see pictures, and models that look things up before they answer.'
    ),
    '13-from-gpt2-to-today': trans.__('You built what separates GPT-2 from the models of today, part by part.'),
    '14-fast': trans.__(
      'You built the same numbers, sooner: attention in tiles, pages of memory, weights of few bits.'
    ),
    '15-after-pretraining': trans.__(
      'You built what turns a model that continues texts into one that does what is wanted.'
    ),
    '16-looking-inside': trans.__('You built instruments that show which part of a model knew what.'),
    '18-debugging-transformers': trans.__('You built four tools that find where a model goes wrong.')
  };
  return sentences[unit] ?? '';
}
