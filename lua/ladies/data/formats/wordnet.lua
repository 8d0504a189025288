--- Reads WordNet's data files, whose format is in wndb(5WN), into plain Lua arrays.
--
-- A synset is one line:
--   offset lex_filenum ss_type w_cnt word lex_id [word lex_id ...] p_cnt [ptr ...] [frames] | gloss
-- with w_cnt in hexadecimal and four fields a ptr: symbol, offset, part of speech, source/target.

local errors = require "ladies.base.errors"

local wordnet = {}

-- The files in the order of the nodes, with the letter that ends their names.
local PARTS = {{"noun", "n"}, {"verb", "v"}, {"adj", "a"}, {"adv", "r"}}

--- The lexicographer files in the numbering of lexnames(5WN), whose first is number 0.
wordnet.lexicographer_files = {
  "adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact",
  "noun.attribute", "noun.body", "noun.cognition", "noun.communication", "noun.event",
  "noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object",
  "noun.person", "noun.phenomenon", "noun.plant", "noun.possession", "noun.process",
  "noun.quantity", "noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time",
  "verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition",
  "verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion",
  "verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather", "adj.ppl",
}

-- The relation that each pointer symbol of wninput(5WN) stands for, from the synset that has it to
-- the one that it leads to; true behind the name where the relation goes the other way, and `both`
-- where the files lack some reverses of a relation that wninput has go both ways. The names are
-- those of the data sets WN18 and WN18RR, where these have the relation.
local RELATIONS = {
  ["@"] = {"hypernym"}, ["~"] = {"hypernym", true}, ["@i"] = {"instance_hypernym"},
  ["~i"] = {"instance_hypernym", true}, ["%m"] = {"member_meronym"},
  ["#m"] = {"member_meronym", true}, ["%s"] = {"substance_meronym"},
  ["#s"] = {"substance_meronym", true}, ["%p"] = {"has_part"}, ["#p"] = {"has_part", true},
  [";c"] = {"synset_domain_topic_of"}, ["-c"] = {"synset_domain_topic_of", true},
  ["-r"] = {"member_of_domain_region"}, [";r"] = {"member_of_domain_region", true},
  ["-u"] = {"member_of_domain_usage"}, [";u"] = {"member_of_domain_usage", true},
  ["+"] = {"derivationally_related_form", both = true}, ["^"] = {"also_see"},
  ["$"] = {"verb_group"}, ["&"] = {"similar_to"}, ["!"] = {"antonym"}, ["="] = {"attribute"},
  ["*"] = {"entailment"}, [">"] = {"cause"}, ["<"] = {"participle_of"}, ["\\"] = {"pertains_to"},
}

-- Returns the definition in a gloss without the examples. An example is quoted and follows a
-- semicolon; quotation marks elsewhere belong to the definition.
local function definition_of(gloss)
  local example = gloss:find('; "', 1, true)
  return example and gloss:sub(1, example - 1) or gloss
end

-- Parses the line of a synset into its fields; returns nil for another line.
local function parse(line)
  local left, gloss = line:match("^(.-) | (.*)$")
  local fields = {}
  for field in (left or ""):gmatch("%S+") do fields[#fields + 1] = field end
  local label, n_words = tonumber(fields[2]), tonumber(fields[4] or "", 16)
  local n_pointers = n_words and math.tointeger(tonumber(fields[5 + 2 * n_words]))
  local first = n_words and 6 + 2 * n_words
  if not label or not n_pointers or #fields < first + 4 * n_pointers - 1 then return nil end
  local pointers = {}
  for i = first, first + 4 * (n_pointers - 1), 4 do
    pointers[#pointers + 1] = {key = fields[i + 2] .. fields[i + 1], symbol = fields[i]}
  end
  -- An adjective's marker, as in `outback(a)`, tells where it may stand: it is not in the word.
  local lemma = fields[5]:gsub("%(%a+%)$", "")
  return {offset = fields[1], label = label, lemma = lemma, pointers = pointers,
    definition = definition_of(gloss)}
end

--- Reads the synsets of the files data.noun, data.verb, data.adj and data.adv in `folder`, in that
-- order, into a table of parallel arrays: `names`, `labels` (numbers of lexicographer files) and
-- `definitions`, and `sources`, `targets` and `types`, the two ends (1-based) and the relation of
-- each pointer from one synset to another. Of two relations that are each other's reverse, such as
-- hypernym and hyponym, there is one, and the pointers of the other are turned round.
--
-- A name is the first lemma and the letter of the part of speech, `dog.n`; where several synsets
-- of one part begin with the same lemma, the second in the file is `dog.n.2`, and so on. These are
-- not WordNet's sense numbers, which count the synsets where the word has any place.
function wordnet.read(folder)
  local net = {names = {}, labels = {}, definitions = {}, sources = {}, targets = {},
    types = {}}
  local id_of, pointers, times = {}, {}, {}
  for _, part in ipairs(PARTS) do
    local path, letter = folder .. "/data." .. part[1], part[2]
    local file, message = io.open(path)
    if not file then errors.fail("wordnet: cannot read " .. message) end
    local number = 0
    for line in file:lines() do
      number = number + 1
      if line:sub(1, 1) ~= " " then                      -- the licence is indented
        local synset = parse(line)
        if not synset then
          file:close()
          errors.fail(("wordnet: %s:%d: not the line of a synset"):format(path, number))
        end
        local i = #net.names + 1
        local name = synset.lemma .. "." .. letter
        times[name] = (times[name] or 0) + 1
        net.names[i] = times[name] == 1 and name or name .. "." .. times[name]
        net.labels[i], net.definitions[i] = synset.label, synset.definition
        id_of[letter .. synset.offset], pointers[i] = i, synset.pointers
      end
    end
    file:close()
  end
  for i, list in ipairs(pointers) do
    for _, pointer in ipairs(list) do
      local target, relation = id_of[pointer.key], RELATIONS[pointer.symbol]
      if not target then
        errors.fail(("wordnet: %s points to %s, which is not there"):format(net.names[i],
          pointer.key))
      elseif not relation then
        errors.fail(("wordnet: %s has a pointer of the kind %s, which is none of WordNet 3.0")
          :format(net.names[i], pointer.symbol))
      elseif target ~= i then
        local n = #net.types + 1
        net.sources[n], net.targets[n] = relation[2] and target or i, relation[2] and i or target
        net.types[n] = relation[1]
        if relation.both then
          net.sources[n + 1], net.targets[n + 1] = target, i
          net.types[n + 1] = relation[1]
        end
      end
    end
  end
  return net
end

-- Returns the different words of a definition that have three letters or more, in lower case.
local function words_of(definition)
  local words, seen = {}, {}
  for word in definition:lower():gmatch("[a-z]+") do
    if #word >= 3 and not seen[word] then
      seen[word], words[#words + 1] = true, word
    end
  end
  return words
end

--- Returns the `size` words that are in the most definitions, the most frequent first and equally
-- frequent ones in alphabetical order.
function wordnet.vocabulary(definitions, size)
  local count, words = {}, {}
  for _, definition in ipairs(definitions) do
    for _, word in ipairs(words_of(definition)) do
      if not count[word] then count[word], words[#words + 1] = 0, word end
      count[word] = count[word] + 1
    end
  end
  table.sort(words, function(a, b)
    if count[a] ~= count[b] then return count[a] > count[b] end
    return a < b
  end)
  return table.move(words, 1, size, 1, {})
end

--- Returns all pairs of a definition and a word of `vocabulary` in it, as two parallel arrays of
-- 1-based numbers.
function wordnet.occurrences(definitions, vocabulary)
  local column_of, rows, columns = {}, {}, {}
  for column, word in ipairs(vocabulary) do column_of[word] = column end
  for row, definition in ipairs(definitions) do
    for _, word in ipairs(words_of(definition)) do
      if column_of[word] then
        rows[#rows + 1], columns[#columns + 1] = row, column_of[word]
      end
    end
  end
  return rows, columns
end

return wordnet
