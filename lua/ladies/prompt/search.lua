--- Searches the documentation for words.

local search = {}

-- Groups of words that mean the same in this library.
local SAME = {
  {"choose", "draw", "sample", "pick", "select"}, {"neighbour", "neighbor", "adjacent"},
  {"train", "fit", "learn"}, {"load", "read", "open", "import"}, {"save", "write", "export"},
  {"accuracy", "f1", "metric", "score"}, {"multiply", "product", "matmul", "spmm"},
  {"random", "rng", "shuffle"}, {"plot", "draw", "picture", "curve"}, {"count", "number", "size"},
}

local FEWEST = 3   -- letters of what is left of a word without its ending

local function stem(word)
  word = word:lower()
  for _, ending in ipairs{"ings", "ing", "ers", "er", "es", "ed", "s", "e"} do
    local rest = word:sub(1, -#ending - 1)
    if word:sub(-#ending) == ending and #rest >= FEWEST then return rest end
  end
  return word
end

-- Returns the stems that match a word: its own and those of words with the same meaning.
local function stems_of(word)
  local stems = {[stem(word)] = true}
  for _, group in ipairs(SAME) do
    for _, one in ipairs(group) do
      if stem(one) == stem(word) then
        for _, other in ipairs(group) do stems[stem(other)] = true end
        break
      end
    end
  end
  return stems
end

-- Scores a text by the stems that it has: 2 for the word's own, 1 for another one, 0 for none.
local function match(text, own, stems)
  local best = 0
  for word in text:gmatch "%w+" do
    local found = stem(word)
    if found == own then return 2 end
    if stems[found] then best = 1 end
  end
  return best
end

local NAME, SENTENCE, BODY = 6, 3, 1   -- what a word counts for where it is found

-- Scores how well an entry {name =, summary =, text =} fits all the words; 0 where one of them is
-- missing.
local function score(entry, words)
  local sum = 0
  for _, word in ipairs(words) do
    local points = NAME * match(entry.name, word.own, word.stems)
      + SENTENCE * match(entry.summary, word.own, word.stems)
      + BODY * match(entry.text, word.own, word.stems)
    if points == 0 then return 0 end
    sum = sum + points
  end
  return sum
end

--- Returns the entries {name =, summary =, text =} that match all words of a text, the best first,
-- and among equals the shortest names. "cross_entropy" counts as two words.
function search.find(text, entries)
  local words, found = {}, {}
  for word in text:gmatch "%w+" do
    words[#words + 1] = {own = stem(word), stems = stems_of(word)}
  end
  for _, entry in ipairs(#words > 0 and entries or {}) do
    local points = score(entry, words)
    if points > 0 then found[#found + 1] = {entry = entry, points = points} end
  end
  table.sort(found, function(a, b)
    local x, y = a.entry.name, b.entry.name
    if a.points ~= b.points then return a.points > b.points end
    if #x ~= #y then return #x < #y end
    return x < y
  end)
  for i, one in ipairs(found) do found[i] = one.entry end
  return found
end

return search
