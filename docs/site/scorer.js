// How Sphinx's search orders what it found: its own scores, English units before their translations, documents for readers
// before the log of decisions. The numbers but for `score` are Sphinx's defaults.
var Scorer = {
  score: ([page, , , , score]) => score - (page.startsWith('course/fr/') ? 12 : page.startsWith('decisions/') ? 8 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2
};
