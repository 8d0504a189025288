--- WordNet's data files, whose format is in wndb(5WN), read into plain Lua arrays.
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

-- An example is quoted and follows a semicolon; quotation marks elsewhere belong to the definition.
local function definition_of(gloss)
  local example = gloss:find('; "', 1, true)
  return example and gloss:sub(1, example - 1) or gloss
end

-- The fields of one synset's line, or nil when it is not one.
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
    pointers[#pointers + 1] = fields[i + 2] .. fields[i + 1]
  end
  -- An adjective's marker, as in `outback(a)`, tells where it may stand: it is not in the word.
  local lemma = fields[5]:gsub("%(%a+%)$", "")
  return {offset = fields[1], label = label, lemma = lemma, pointers = pointers,
    definition = definition_of(gloss)}
end

--- The synsets of the files data.noun, data.verb, data.adj and data.adv in `folder`, in that order:
-- a table of parallel arrays `names`, `labels` (numbers of lexicographer files) and `definitions`,
-- and `sources` and `targets`, the two ends (1-based) of each pointer from one synset to another.
--
-- A name is the first lemma and the letter of the part of speech, `dog.n`; where several synsets
-- of one part begin with the same lemma, the second in the file is `dog.n.2`, and so on. These are
-- not WordNet's sense numbers, which count the synsets where the word has any place.
function wordnet.read(folder)
  local net = {names = {}, labels = {}, definitions = {}, sources = {}, targets = {}}
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
  for i, keys in ipairs(pointers) do
    for _, key in ipairs(keys) do
      local target = id_of[key]
      if not target then
        errors.fail(("wordnet: %s points to %s, which is not there"):format(net.names[i], key))
      elseif target ~= i then
        net.sources[#net.sources + 1], net.targets[#net.targets + 1] = i, target
      end
    end
  end
  return net
end

-- The different words of a definition, three letters or longer, in lower case.
local function words_of(definition)
  local words, seen = {}, {}
  for word in definition:lower():gmatch("[a-z]+") do
    if #word >= 3 and not seen[word] then
      seen[word], words[#words + 1] = true, word
    end
  end
  return words
end

--- The `size` words that are in the most definitions, most frequent first; ties by alphabet.
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

--- Which definition has which word of `vocabulary`: two parallel arrays of 1-based numbers.
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
