-- ladies make-wordnet: makes datasets/wordnet.npz from WordNet's data files
--
--   ladies make-wordnet [--folder DIR] [--out FILE]
--
-- DIR holds data.noun, data.verb, data.adj and data.adv of WordNet 3.0, as Debian's package
-- wordnet-base puts them in /usr/share/wordnet. The same files give the same bytes.
--
-- * A node is a synset, in the order of the files. Its name is its first lemma and part of speech,
--   `dog.n` (n noun, v verb, a adjective, r adverb); where several synsets of one part begin with
--   the same lemma, the second in the file is `dog.n.2` and so on. These are no sense numbers.
-- * An edge joins two synsets when a pointer of either leads to the other: hypernyms, parts,
--   derivations, topics and all other kinds alike, without direction. Which kinds they are, and
-- which
--   way they go, is in the types of edges (data.graph.relations), named as in WN18 where that has
--   them; hyponyms and their like are the inverses of these. --parallel keep makes each an entry.
-- * The features are the 1,000 words of three letters or more that are in the most definitions:
--   1 where the word is in the synset's definition. The definition is the gloss before its first
--   example, which follows a semicolon and opens with a quotation mark.
-- * The label is the lexicographer file: noun.animal, verb.motion, ...
-- * The split is random: 10 % of the nodes for training, 10 % for validation, the rest for testing.

local ladies = require "ladies"
local cli = require "ladies.command.cli"
local wordnet = require "ladies.data.formats.wordnet"

local WORDS, SPLIT_SEED = 1000, 1

local function make(folder)
  local net = wordnet.read(folder)
  local n = #net.names
  local vocabulary = wordnet.vocabulary(net.definitions, WORDS)
  local rows, columns = wordnet.occurrences(net.definitions, vocabulary)
  local labels = {}
  for i, number in ipairs(net.labels) do labels[i] = number + 1 end
  local train, val, test = ladies.data.random_split(n, {train = 0.1, val = 0.1, seed = SPLIT_SEED})
  return ladies.data.from_arrays{
    name = "wordnet",
    source = "WordNet 3.0, Princeton University; made by scripts/make_wordnet.lua",
    edges = {ladies.index(net.sources), ladies.index(net.targets)}, edge_types = net.types,
    parallel = "merge",
    features = ladies.matrix{n_rows = n, n_cols = WORDS,
      rows = ladies.index(rows), cols = ladies.index(columns)},
    labels = labels, train = train, val = val, test = test,
    class_names = wordnet.lexicographer_files, feature_names = vocabulary, node_names = net.names,
  }
end

cli.main({
  name = "ladies make-wordnet",
  about = "Makes the data set wordnet from WordNet's data files.",
  {"folder", "DIR", "string", default = "/usr/share/wordnet", help = "where data.noun etc. are"},
  {"out", "FILE", "string", default = ladies.home() .. "/datasets/wordnet.npz",
    help = "the file to write"},
}, arg, function(opts)
  local data = make(opts.folder)
  ladies.data.save(data, opts.out)
  print(data:describe())
  print("wrote " .. opts.out)
end)
